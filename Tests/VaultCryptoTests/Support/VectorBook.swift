import TestSupport

/// The vectors that Swift writes and Python reads. All keys in it are throw-away keys.
struct VectorBook: Codable {
    struct Field: Codable {
        var type: String
        var hex: String?
        var integer: Int64?
        var text: String?
    }

    struct Cell: Codable {
        var name: String
        var kind: String
        var key: String
        var keyID: String
        var associatedData: [Field]
        var plaintext: String
        var cell: String
    }

    struct RecordField: Codable {
        var tag: UInt8
        var hex: String
    }

    struct Record: Codable {
        var record: String
        var fields: [RecordField]
    }

    struct BlindIndex: Codable {
        var domain: String
        var key: String
        var value: String
        var index: String
    }

    struct AuditLink: Codable {
        var key: String
        var previous: String
        var associatedData: [Field]
        var mac: String
    }

    struct KeyFile: Codable {
        var text: String
        var key: String
        var keyID: String
    }

    struct SlotFields: Codable {
        var vault: String
        var id: String
        var keyID: String
        var kind: Int64
        var salt: String?
        var passes: UInt32?
        var memoryKiB: UInt32?
        var label: String
        var createdAt: Int64
        var wrappedKey: String?
        var keyName: String?
        var recipient: String?
        var share: String?
    }

    struct Slot: Codable {
        var slot: SlotFields
        /// The passphrase, the text of the key file, the unwrapped key, or the identity.
        var secret: String
        var cell: String
        var vaultKey: String
        var vaultKeyID: String
        /// The keyring's cell, and what it is bound to.
        var keyring: String
        var associatedData: [Field]
        var primaryRoot: String
        var retiredRoot: String
    }

    var format = 1
    var provenance: String
    var cells: [Cell]
    var records: [Record]
    var blindIndexes: [BlindIndex]
    var auditLinks: [AuditLink]
    var keyFiles: [KeyFile]
    var slots: [Slot]
}
