extension Table {
    package enum FieldType: Sendable { case integer, bytes, text }

    /// One column, and the requirements for its values. An engine refuses any other value as a conflict.
    package struct Field: Sendable {
        package let name: String
        package let type: FieldType
        package var isOptional = false
        /// The required number of bytes.
        package var byteCount: Int?
        /// Whether no two rows may have the same value. NULL does not count as a value.
        package var isUnique = false
        /// The column in which one row must have the same value. That row cannot be deleted while it is referenced.
        package var reference: Column?
    }

    /// All columns except the key, which is an integer.
    package var fields: [Field] {
        switch self {
        case .vault:
            [
                .handle("vaultID"), .integer("incarnation"), .integer("createdAt"), .bytes("keyringCell"),
                .integer("revision"), .integer("auditSequence"), .bytes("manifestCell").optional,
            ]
        case .migration:
            [
                .text("name"), .integer("checksum"), .integer("appliedAt"), .integer("auditSequence").optional,
            ]
        case .keySlot:
            [
                .handle("handle").unique, .integer("kind"), .handle("keyID"), .bytes("salt").optional,
                .integer("operations").optional, .integer("memoryKiB").optional, .text("label"),
                .integer("createdAt"), .bytes("cell"), .bytes("wrappedKey").optional, .text("keyName").optional,
                .bytes("recipient", byteCount: 32).optional, .bytes("share", byteCount: 32).optional,
            ]
        case .provider:
            [
                .handle("handle").unique, .integer("revision"), .bytes("cell"), .handle("nameIndex").optional.unique,
            ]
        case .user:
            [
                .handle("handle").unique, .handle("blindIndex").unique, .integer("revision"),
                .integer("auditSequence"), .handle("rootKey"), .bytes("cell"),
            ]
        case .login:
            [
                .handle("handle").unique, .integer("user").of(Table.user["id"]),
                .bytes("provider").optional.of(Table.provider["handle"]), .integer("chain"), .integer("generation"),
                .integer("revision"), .integer("incarnation"), .integer("dueAt").optional,
                .integer("expiresAt").optional, .bytes("refreshTag").optional, .bytes("keyTag").optional,
                .bytes("cell"),
            ]
        case .loginSecret: [.bytes("refreshCell").optional, .bytes("keyCell").optional]
        case .refreshIntent:
            [
                .integer("login").unique.of(Table.login["id"]), .integer("generation"), .integer("owner"),
                .integer("startedAt"), .integer("doubtSince").optional, .integer("tries"), .handle("mac"),
            ]
        case .authorizationRequest: [.handle("stateIndex").unique, .integer("expiresAt"), .bytes("cell")]
        case .outbox:
            [.handle("handle").unique, .integer("nextAttemptAt"), .integer("attempts"), .bytes("cell")]
        case .audit:
            [
                .integer("time"), .integer("kind"), .bytes("user").optional, .bytes("login").optional,
                .bytes("provider").optional, .integer("revision").optional, .bytes("detailCell").optional,
                .bytes("mac", byteCount: 32), .bytes("previous", byteCount: 32).optional,
            ]
        case .unusableReply:
            [
                .handle("handle").unique, .integer("login").of(Table.login["id"]), .integer("receivedAt"),
                .bytes("cell"),
            ]
        case .unreportedFailure: []
        case .manifestPart: [.bytes("cell")]
        case .backup:
            [
                .handle("handle").unique, .integer("madeAt"), .integer("finishedAt").optional,
                .integer("auditSequence"), .integer("byteCount"), .text("path"), .text("recipients"), .handle("mac"),
            ]
        case .observer:
            [.text("name").unique, .text("cursor"), .integer("incarnation"), .integer("owner"), .handle("mac")]
        }
    }

    /// The column in which one row must have the key's value.
    package var keyReference: Column? {
        switch self {
        case .loginSecret, .unreportedFailure: Table.login["id"]
        default: nil
        }
    }
}

extension Table.Field {
    fileprivate static func integer(_ name: String) -> Self { Self(name: name, type: .integer) }
    fileprivate static func text(_ name: String) -> Self { Self(name: name, type: .text) }
    fileprivate static func bytes(_ name: String, byteCount: Int? = nil) -> Self {
        Self(name: name, type: .bytes, byteCount: byteCount)
    }
    /// 16 bytes.
    fileprivate static func handle(_ name: String) -> Self { .bytes(name, byteCount: 16) }

    fileprivate var optional: Self { with { $0.isOptional = true } }
    fileprivate var unique: Self { with { $0.isUnique = true } }
    fileprivate func of(_ column: Column) -> Self { with { $0.reference = column } }

    private func with(_ change: (inout Self) -> Void) -> Self {
        var field = self
        change(&field)
        return field
    }
}
