/// Reads DER (X.690 §10) element by element, as far as certificates need it.
struct DERReader {
    struct Element {
        let tag: UInt8
        let content: ArraySlice<UInt8>
        /// With tag and length.
        let whole: ArraySlice<UInt8>

        var children: DERReader { DERReader(content) }
    }

    static let integer: UInt8 = 0x02
    static let utcTime: UInt8 = 0x17
    static let generalizedTime: UInt8 = 0x18
    static let sequence: UInt8 = 0x30

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }
    /// The tag of the next element.
    var tag: UInt8? { rest.first }

    /// Nil at the end, and if it is not DER.
    mutating func next() -> Element? {
        var tail = rest
        guard let tag = tail.popFirst(), tag & 0x1F != 0x1F, let first = tail.popFirst() else { return nil }
        var length = Int(first)
        if first >= 0x80 {
            let count = Int(first & 0x7F)
            guard (1...3).contains(count), tail.count >= count else { return nil }
            length = tail.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            tail = tail.dropFirst(count)
            // Only the shortest form is valid.
            guard length >= 0x80, count == 1 || length >> (8 * (count - 1)) > 0 else { return nil }
        }
        guard tail.count >= length else { return nil }
        let element = Element(
            tag: tag, content: tail.prefix(length), whole: rest[rest.startIndex..<tail.startIndex + length])
        rest = tail.dropFirst(length)
        return element
    }

    /// The next element, if it has this tag.
    mutating func next(_ tag: UInt8) -> Element? {
        guard self.tag == tag else { return nil }
        return next()
    }
}
