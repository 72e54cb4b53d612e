import FoundationEssentials

/// The fields of a certificate that are used (RFC 5280 §4.1). The server decides whether the certificate is valid.
struct CertificateFields {
    let notValidBefore: Date
    let notValidAfter: Date
    /// Whether the issuer equals the subject.
    let isSelfIssued: Bool
    /// `SubjectPublicKeyInfo`.
    let publicKey: [UInt8]

    /// Nil if it is not a certificate.
    init?(der: [UInt8]) {
        var outer = DERReader(der[...])
        guard let certificate = outer.next(DERReader.sequence), outer.isAtEnd else { return nil }
        var parts = certificate.children
        guard let signed = parts.next(DERReader.sequence) else { return nil }
        var fields = signed.children
        // Version 1 certificates omit the version.
        if fields.tag == 0xA0 { _ = fields.next() }
        guard fields.next(DERReader.integer) != nil, fields.next(DERReader.sequence) != nil,
            let issuer = fields.next(DERReader.sequence), let validity = fields.next(DERReader.sequence),
            let subject = fields.next(DERReader.sequence), let key = fields.next(DERReader.sequence)
        else { return nil }
        var times = validity.children
        guard let start = times.next().flatMap(Self.time), let end = times.next().flatMap(Self.time), times.isAtEnd
        else { return nil }
        notValidBefore = start
        notValidAfter = end
        isSelfIssued = issuer.whole.elementsEqual(subject.whole)
        publicKey = Array(key.whole)
    }

    /// `YYMMDDhhmmssZ` for the years 1950 to 2049, or `YYYYMMDDhhmmssZ` (RFC 5280 §4.1.2.5).
    private static func time(_ element: DERReader.Element) -> Date? {
        var digits = String(decoding: element.content, as: UTF8.self)
        guard digits.popLast() == "Z" else { return nil }
        let isShort = element.tag == DERReader.utcTime
        guard isShort || element.tag == DERReader.generalizedTime, digits.utf8.count == (isShort ? 12 : 14) else {
            return nil
        }
        if isShort { digits = (digits < "5" ? "20" : "19") + digits }
        var numbers: [Int] = []
        var rest = digits[...]
        for count in [4, 2, 2, 2, 2, 2] {
            guard let number = CivilTime.number(rest.prefix(count), count) else { return nil }
            numbers.append(number)
            rest = rest.dropFirst(count)
        }
        guard CivilTime.isDay(year: numbers[0], month: numbers[1], day: numbers[2]),
            let seconds = CivilTime.seconds(
                year: numbers[0], month: numbers[1], day: numbers[2], hour: numbers[3], minute: numbers[4],
                second: numbers[5])
        else { return nil }
        return Date(timeIntervalSince1970: Double(seconds))
    }
}
