import VaultCrypto

enum UserCellTag {
    static let dataKey: UInt8 = 1
    static let userId: UInt8 = 2
    static let status: UInt8 = 3
    static let createdAt: UInt8 = 4
    static let manifest: UInt8 = 5
    static let dataKeyMadeAt: UInt8 = 6
    static let partBits: UInt8 = 7
    static let parts: UInt8 = 8
}

/// An open user cell, read in place. Valid while the cell is open.
///
/// The data key's id is the user's handle, so the header of a cell that belongs to another user does not match.
@safe struct UserCellView {
    let dataKey: UnsafeRawBufferPointer
    let userId: UnsafeRawBufferPointer
    let status: UserStatus
    let createdAt: Timestamp
    /// When the data key replaced its predecessor; nil for a user's first.
    let dataKeyMadeAt: Timestamp?
    private let manifest: UnsafeRawBufferPointer
    /// The parts of the manifest; nil if the cell itself holds the manifest.
    let parts: ManifestParts?
    /// The entries that were looked up for callers that read many of them.
    var known: KnownLogins?

    init(_ plaintext: UnsafeRawBufferPointer) throws(VaultCryptoError) {
        var dataKey: UnsafeRawBufferPointer?
        var userId: UnsafeRawBufferPointer?
        var status: UserStatus?
        var createdAt = Timestamp(milliseconds: 0)
        var dataKeyMadeAt: Timestamp?
        var manifest = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        var partBits: UInt8?
        var parts: ManifestParts?
        var record = unsafe RecordReader(plaintext)
        while let field = try record.next() {
            switch field.tag {
            case UserCellTag.dataKey: unsafe dataKey = try field.keyBytes()
            case UserCellTag.userId: unsafe userId = field.bytes
            case UserCellTag.status: status = UserStatus(rawValue: try field.uint8())
            case UserCellTag.createdAt: createdAt = try field.timestamp()
            case UserCellTag.manifest: unsafe manifest = field.bytes
            case UserCellTag.dataKeyMadeAt: dataKeyMadeAt = try field.timestamp()
            case UserCellTag.partBits: partBits = try field.uint8()
            case UserCellTag.parts: unsafe parts = try ManifestParts(bits: partBits, field.bytes)
            default: try field.ignoreIfOptional()
            }
        }
        guard let dataKey = unsafe dataKey, let userId = unsafe userId, let status,
            manifest.count.isMultiple(of: ManifestEntry.byteCount), (partBits == nil) == (parts == nil),
            unsafe parts == nil || manifest.isEmpty
        else { throw VaultCryptoError(.malformedRecord, "the user cell lacks a field") }
        unsafe self.dataKey = dataKey
        unsafe self.userId = userId
        self.status = status
        self.createdAt = createdAt
        self.dataKeyMadeAt = dataKeyMadeAt
        unsafe self.manifest = manifest
        self.parts = parts
    }

    var loginCount: Int { unsafe parts?.loginCount ?? (manifest.count / ManifestEntry.byteCount) }

    /// All entries of a manifest that the cell itself holds.
    var entries: [ManifestEntry] { unsafe [ManifestEntry](entries: manifest) }

    /// A login's entry in a manifest that the cell itself holds; `nil` if the manifest does not name it.
    func entry(of login: LoginHandle) -> ManifestEntry? {
        if let known { return known.entries[login] }
        for index in unsafe 0..<manifest.count / ManifestEntry.byteCount {
            let candidate = unsafe ManifestEntry(manifest, at: index)
            if candidate.login == login { return candidate }
        }
        return nil
    }

    var userIdText: String { unsafe String(decoding: userId, as: UTF8.self) }
}

/// A user in a write transaction.
struct OpenUser {
    var columns: UserColumns
    var id: String
    var status: UserStatus
    var createdAt: Timestamp
    private(set) var dataKey: SealingKey
    private(set) var dataKeyMadeAt: Timestamp?
    var manifest: LoginManifest

    init(columns: UserColumns, cell: UserCellView) throws(VaultCryptoError) {
        self.columns = columns
        id = cell.userIdText
        status = cell.status
        createdAt = cell.createdAt
        dataKeyMadeAt = cell.dataKeyMadeAt
        dataKey = try unsafe SealingKey(id: KeyID(columns.handle.bytes), copying: cell.dataKey)
        manifest = LoginManifest(cell)
    }

    /// A user that the vault does not have yet.
    init(
        new columns: UserColumns, id: String, createdAt: Timestamp, _ dataKey: SealingKey? = nil
    ) throws(VaultCryptoError) {
        self.columns = columns
        self.id = id
        self.createdAt = createdAt
        status = .active
        manifest = LoginManifest()
        self.dataKey = if let dataKey { dataKey } else { try Self.newDataKey(columns.handle) }
    }

    /// Replaces the data key. Everything that the former one sealed must be resealed.
    mutating func replaceDataKey(at time: Timestamp) throws(VaultCryptoError) {
        dataKey = try Self.newDataKey(columns.handle)
        dataKeyMadeAt = time
    }

    static func newDataKey(_ user: UserHandle) throws(VaultCryptoError) -> SealingKey {
        try SealingKey.generate(id: KeyID(user.bytes))
    }

    func seal(_ context: VaultContext) throws(VaultCryptoError) -> [UInt8] {
        try SealedCell.seal(
            record, kind: .user, key: try context.root(columns.rootKey),
            associatedData: columns.associatedData(context.vaultID))
    }

    var record: RecordWriter {
        var record = RecordWriter(capacity: 192 + id.utf8.count + manifest.byteCountInUserCell)
        record.append(UserCellTag.dataKey, dataKey)
        record.append(UserCellTag.userId, id)
        record.append(UserCellTag.status, status.rawValue)
        record.append(UserCellTag.createdAt, createdAt.milliseconds)
        if let entries = manifest.whole {
            unsafe entries.encoded.withUnsafeBytes { unsafe record.append(UserCellTag.manifest, bytes: $0) }
        }
        record.append(UserCellTag.dataKeyMadeAt, dataKeyMadeAt?.milliseconds)
        if let bits = manifest.bits {
            record.append(UserCellTag.partBits, UInt8(bits))
            unsafe manifest.encodedParts.withUnsafeBytes { unsafe record.append(UserCellTag.parts, bytes: $0) }
        }
        return record
    }
}
