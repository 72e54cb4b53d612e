import VaultCrypto

/// Limits that decide when a user's manifest is cut into parts, and into how many.
package struct ManifestLimits: Sendable {
    /// The largest number of logins in a whole manifest. A divided manifest is joined again at half of that.
    package var mostWhole: Int
    /// The largest number of logins in a part. If a part would have more, every part is cut in two.
    package var mostInPart: Int
    /// The smallest number of logins per part. With fewer, every two parts are joined.
    package var fewestInPart: Int

    package init(mostWhole: Int, mostInPart: Int, fewestInPart: Int) {
        self.mostWhole = mostWhole
        self.mostInPart = mostInPart
        self.fewestInPart = fewestInPart
    }

    package static let standard = ManifestLimits(mostWhole: 64, mostInPart: 128, fewestInPart: 32)
}

/// The parts of a user's manifest as the user's cell names them, each with its tag and its number of logins. Valid
/// while the cell is open.
@safe struct ManifestParts {
    /// The size of each part's entry in a user's cell.
    static let byteCount = 18
    /// No user has more than 2^15 parts: that many names still fit into a cell.
    static let mostBits = 15

    let bits: Int
    private let bytes: UnsafeRawBufferPointer

    init(bits: UInt8?, _ bytes: UnsafeRawBufferPointer) throws(VaultCryptoError) {
        guard let bits, bits <= Self.mostBits, bytes.count == Self.byteCount << Int(bits) else {
            throw VaultCryptoError(.malformedRecord, "the user cell does not name as many parts as it says")
        }
        self.bits = Int(bits)
        unsafe self.bytes = bytes
    }

    var count: Int { 1 << bits }

    func tag(of number: Int) -> CellTag {
        unsafe CellTag(bytes.loadUnaligned(fromByteOffset: number * Self.byteCount, as: Bytes16.self))
    }

    func loginCount(of number: Int) -> Int {
        let offset = number * Self.byteCount + Bytes16.byteCount
        return unsafe Int(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
    }

    var loginCount: Int { (0..<count).reduce(0) { $0 + loginCount(of: $1) } }
}

/// One part of a user's manifest: a separate row, found by the user's row and the part's number.
enum ManifestPart {
    static let tableName = Table.manifestPart.rawValue
    private static let numberBits = 16

    private enum Tag {
        static let entries: UInt8 = 1
    }

    /// The number of the part's row; nil if no engine assigns that number to a user's row.
    static func row(_ number: Int, ofUserRow user: Int64) -> Int64? {
        guard user >= 0, user < 1 << 46 else { return nil }
        return user << numberBits | Int64(number)
    }

    static func place(ofRow row: Int64) -> (userRow: Int64, number: Int) {
        (row >> numberBits, Int(row & (1 << numberBits - 1)))
    }

    static func associatedData(_ vault: Bytes16, _ user: UserHandle, bits: Int, number: Int) -> AssociatedData {
        var data = AssociatedData(vault: vault, table: "manifestPart")
        data.append(user.bytes)
        data.append(Int64(bits))
        data.append(Int64(number))
        return data
    }

    static func encoded(_ entries: [ManifestEntry]) -> RecordWriter {
        var record = RecordWriter(capacity: 16 + entries.count * ManifestEntry.byteCount)
        unsafe entries.encoded.withUnsafeBytes { unsafe record.append(Tag.entries, bytes: $0) }
        return record
    }

    /// Only the entries that belong in that part, in its order.
    static func entries(
        _ plaintext: UnsafeRawBufferPointer, bits: Int, number: Int
    ) throws(VaultCryptoError) -> [ManifestEntry] {
        var entries: [ManifestEntry]?
        var record = unsafe RecordReader(plaintext)
        while let field = try record.next() {
            switch field.tag {
            case Tag.entries:
                guard unsafe field.bytes.count.isMultiple(of: ManifestEntry.byteCount) else { throw malformed }
                entries = unsafe [ManifestEntry](entries: field.bytes)
            default: try field.ignoreIfOptional()
            }
        }
        guard let entries else { throw malformed }
        var last: LoginHandle?
        for entry in entries {
            guard entry.login.part(bits) == number, last.map({ $0.bytes < entry.login.bytes }) ?? true else {
                throw malformed
            }
            last = entry.login
        }
        return entries
    }

    private static var malformed: VaultCryptoError {
        VaultCryptoError(.malformedRecord, "a part of a manifest has an entry that does not belong there")
    }
}

extension Handle where Subject == LoginSubject {
    /// Which of 2^`bits` parts names the login. The second half of the handle decides, because logins that were made
    /// together share the first.
    func part(_ bits: Int) -> Int { Int(truncatingIfNeeded: bytes.secondWord.bigEndian >> UInt64(64 - bits)) }
}
