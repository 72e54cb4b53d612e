import VaultCrypto

/// The person, or the person's tool, behind the event in an audit row. A service that acts by itself is not an actor.
package struct AuditActor: Hashable, Sendable {
    /// Longer names are cut, so that rows do not grow with them.
    private static let longestName = 128

    /// The user id of the process.
    package let uid: Int64
    /// The login name of the person; nil if unknown.
    package let name: String?
    package let host: String
    /// The program and its command, without its arguments.
    package let tool: String

    package init(uid: Int64, name: String?, host: String, tool: String) {
        self.uid = uid
        self.name = name.map { String($0.prefix(Self.longestName)) }
        self.host = String(host.prefix(Self.longestName))
        self.tool = String(tool.prefix(Self.longestName))
    }
}

extension AuditActor {
    private enum Tag {
        static let uid: UInt8 = 1
        static let name: UInt8 = 2
        static let host: UInt8 = 3
        static let tool: UInt8 = 4
    }

    func encoded() -> RecordWriter {
        var record = RecordWriter(capacity: 96)
        record.append(Tag.uid, uid)
        record.append(Tag.name, name)
        record.append(Tag.host, host)
        record.append(Tag.tool, tool)
        return record
    }

    init(_ field: RecordField) throws(VaultCryptoError) {
        var (uid, name, host, tool) = (Int64(-1), nil as String?, "", "")
        var record = field.record()
        while let field = try record.next() {
            switch field.tag {
            case Tag.uid: uid = try field.int64()
            case Tag.name: name = try field.text()
            case Tag.host: host = try field.text()
            case Tag.tool: tool = try field.text()
            default: try field.ignoreIfOptional()
            }
        }
        self.init(uid: uid, name: name, host: host, tool: tool)
    }
}
