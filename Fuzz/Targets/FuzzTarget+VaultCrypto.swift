import VaultCrypto

extension FuzzTarget {
    /// A sealed cell. A forged cell never opens; a sealed one opens to its content, and nowhere else.
    static let sealedCell = FuzzTarget("sealed-cell") { bytes throws(FuzzFinding) in
        guard let bench = CellBench.shared, let kind = bytes.first.map({ CellKind.allCases[Int($0) % 11] }) else {
            return
        }
        let rest = Array(bytes.dropFirst())
        unsafe rest.withUnsafeBytes { cell in
            _ = try? unsafe SealedCell.keyID(of: cell, kind: kind)
            _ = try? unsafe SealedCell.tag(of: cell)
        }
        let foreign = bench.open(rest, kind, place: 1)
        try require(foreign == nil, "a cell that nobody sealed is open")

        let content = Array(rest.dropFirst(4))
        let sealed = bench.seal(content, kind, place: 1)
        try require(sealed.count == SealedCell.byteCount(forPlaintext: content.count), "a cell of another length")
        try require(bench.open(sealed, kind, place: 1) == content, "a cell opens to something else")
        try require(bench.open(sealed, kind, place: 2) == nil, "a cell opens at another place")
        let other = CellKind.allCases[(Int(kind.rawValue) + Int(rest.first ?? 0) % 10) % 11]
        try require(other == kind || bench.open(sealed, other, place: 1) == nil, "a cell opens as another kind")
        guard rest.count >= 4 else { return }
        // One change; the fuzzer chooses its offset and value.
        var changed = sealed
        let index = (Int(rest[0]) | Int(rest[1]) << 8) % changed.count
        changed[index] ^= max(rest[2], 1)
        try require(bench.open(changed, kind, place: 1) == nil, "a cell opens with byte \(index) changed")
        let cut = Array(sealed.dropLast(Int(rest[3]) % sealed.count + 1))
        try require(bench.open(cut, kind, place: 1) == nil, "a cell opens after \(cut.count) bytes")
    }

    /// A tagged record: exactly the writer's output is accepted.
    static let record = FuzzTarget("record") { bytes throws(FuzzFinding) in
        try RecordCheck.canonical(bytes, depth: 0)
    }

    /// The line of a key file: an accepted line is written back byte for byte, except for a removed final newline.
    static let keyFile = FuzzTarget("key-file") { bytes throws(FuzzFinding) in
        guard let key = try? KeyFileLine.decode(SecretBytes(copying: bytes)) else { return }
        let newline = UInt8(ascii: "\n")
        let line = bytes.last == newline ? bytes : bytes + [newline]
        try require(KeyFileLine.encode(key) == SecretBytes(copying: line), "two lines for one key")
    }

    /// An age identity file, or a recipient: each line that counts is one identity, and a recipient has only one
    /// spelling.
    static let age = FuzzTarget("age") { bytes throws(FuzzFinding) in
        let text = String(decoding: bytes, as: UTF8.self)
        if let recipient = try? Recipient(text: text) {
            try require(recipient.text == text, "two texts for one recipient")
            try require(text.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "a recipient with another character")
        }
        guard let identities = try? Identity.parse(SecretBytes(copying: bytes)) else { return }
        let lines = bytes.split(separator: UInt8(ascii: "\n")).map {
            $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0
        }
        let counted = lines.filter { !$0.isEmpty && $0.first != UInt8(ascii: "#") }
        try require(!identities.isEmpty && identities.count == counted.count, "lines were passed over")
        try require(
            counted.allSatisfy { $0.starts(with: Array("AGE-SECRET-KEY-1".utf8)) }, "another line is an identity")
        for identity in identities {
            let recipient = identity.recipient
            let again = try? Recipient(text: recipient.text)
            try require(again == recipient, "a recipient that cannot be read")
            try require(!"\(identity)".contains("AGE-SECRET"), "an identity that is shown")
        }
    }
}

/// A key and two positions that are the same in every run.
private final class CellBench: Sendable {
    static let shared = try? CellBench()

    private let key: SealingKey
    private let vault: Bytes16

    private init() throws {
        let secret = [UInt8](repeating: 7, count: SealingKey.byteCount)
        guard let id = Bytes16([UInt8](0..<16)) else { throw FuzzFinding("sixteen bytes are not sixteen bytes") }
        vault = id
        key = try unsafe secret.withUnsafeBytes { try unsafe SealingKey(id: KeyID(id), copying: $0) }
    }

    func seal(_ plaintext: [UInt8], _ kind: CellKind, place: Int64) -> [UInt8] {
        var data = AssociatedData(vault: vault, table: "fuzz")
        data.append(place)
        let sealed = unsafe plaintext.withUnsafeBytes {
            try? unsafe SealedCell.seal($0, kind: kind, key: key, associatedData: data)
        }
        return sealed ?? []
    }

    func open(_ cell: [UInt8], _ kind: CellKind, place: Int64) -> [UInt8]? {
        var data = AssociatedData(vault: vault, table: "fuzz")
        data.append(place)
        return unsafe cell.withUnsafeBytes { cell in
            try? unsafe SealedCell.open(cell, kind: kind, key: key, associatedData: data) { unsafe Array($0) }
        }
    }
}

private enum RecordCheck {
    private struct Copy {
        let tag: UInt8
        let bytes: [UInt8]
    }

    static func canonical(_ source: [UInt8], depth: Int) throws(FuzzFinding) {
        guard let fields = unsafe source.withUnsafeBytes({ unsafe fields(of: $0) }) else { return }
        var writer = RecordWriter()
        for field in fields { unsafe field.bytes.withUnsafeBytes { unsafe writer.append(field.tag, bytes: $0) } }
        let isSame = unsafe writer.bytes.elementsEqual(source)
        try require(isSame, "a record that the writer would not write")
        guard depth < 3 else { return }
        for field in fields { try canonical(field.bytes, depth: depth + 1) }
    }

    /// Reads every field with every accessor; nil if the record is refused.
    private static func fields(of source: UnsafeRawBufferPointer) -> [Copy]? {
        var reader = unsafe RecordReader(source)
        var copies: [Copy] = []
        do {
            while let field = try reader.next() {
                _ = try? field.uint8()
                _ = try? field.bool()
                _ = try? field.int64()
                _ = try? field.bytes16()
                _ = try? unsafe field.keyBytes()
                _ = try? field.text()
                _ = try? field.ignoreIfOptional()
                var elements = field.elements()
                while unsafe (try? elements.next()) != nil {}
                copies.append(Copy(tag: field.tag, bytes: unsafe Array(field.bytes)))
            }
        } catch {
            return nil
        }
        return copies
    }
}
