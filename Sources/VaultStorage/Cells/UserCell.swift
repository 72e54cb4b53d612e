import VaultCrypto

/// One login as its user cell knows it.
struct ManifestEntry: Equatable {
    static let byteCount = 40

    var login: LoginHandle
    var revision: Int64
    /// The tag of the session cell, which stands for the whole row.
    var tag: CellTag
}

enum UserCellTag {
    static let dataKey: UInt8 = 1
    static let userId: UInt8 = 2
    static let status: UInt8 = 3
    static let createdAt: UInt8 = 4
    static let manifest: UInt8 = 5
    static let dataKeyMadeAt: UInt8 = 6
}

/// An open user cell, read in place. Valid while the cell is open.
///
/// The data key's id is the user's handle, so a cell that belongs to another user is refused by its header.
@safe struct UserCellView {
    let dataKey: UnsafeRawBufferPointer
    let userId: UnsafeRawBufferPointer
    let status: UserStatus
    let createdAt: Timestamp
    /// When the data key took another one's place; nil for a user's first.
    let dataKeyMadeAt: Timestamp?
    private let manifest: UnsafeRawBufferPointer
    /// Where the entries of logins stand, if that was worked out.
    private var places: [LoginHandle: Int]?

    init(_ plaintext: UnsafeRawBufferPointer) throws(VaultCryptoError) {
        var dataKey: UnsafeRawBufferPointer?
        var userId: UnsafeRawBufferPointer?
        var status: UserStatus?
        var createdAt = Timestamp(milliseconds: 0)
        var dataKeyMadeAt: Timestamp?
        var manifest = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        var record = unsafe RecordReader(plaintext)
        while let field = try record.next() {
            switch field.tag {
            case UserCellTag.dataKey: unsafe dataKey = try field.keyBytes()
            case UserCellTag.userId: unsafe userId = field.bytes
            case UserCellTag.status: status = UserStatus(rawValue: try field.uint8())
            case UserCellTag.createdAt: createdAt = try field.timestamp()
            case UserCellTag.manifest: unsafe manifest = field.bytes
            case UserCellTag.dataKeyMadeAt: dataKeyMadeAt = try field.timestamp()
            default: try field.ignoreIfOptional()
            }
        }
        guard let dataKey = unsafe dataKey, let userId = unsafe userId, let status,
            manifest.count.isMultiple(of: ManifestEntry.byteCount)
        else { throw VaultCryptoError(.malformedRecord, "the user cell lacks a field") }
        unsafe self.dataKey = dataKey
        unsafe self.userId = userId
        self.status = status
        self.createdAt = createdAt
        self.dataKeyMadeAt = dataKeyMadeAt
        unsafe self.manifest = manifest
    }

    var loginCount: Int { unsafe manifest.count / ManifestEntry.byteCount }

    /// - Parameter index: below ``loginCount``.
    func entry(_ index: Int) -> ManifestEntry {
        let start = index * ManifestEntry.byteCount
        return unsafe ManifestEntry(
            login: LoginHandle(manifest.loadUnaligned(fromByteOffset: start, as: Bytes16.self)),
            revision: Int64(littleEndian: manifest.loadUnaligned(fromByteOffset: start + 16, as: Int64.self)),
            tag: CellTag(manifest.loadUnaligned(fromByteOffset: start + 24, as: Bytes16.self)))
    }

    /// The same view for those who ask for many entries: it finds each at once.
    func indexed() -> UserCellView {
        guard loginCount > Self.fewLogins else { return self }
        var view = self
        view.places = Dictionary(
            (0..<loginCount).map { (entry($0).login, $0) }, uniquingKeysWith: { first, _ in first })
        return view
    }

    private static let fewLogins = 16

    /// What the manifest says of a login; `nil` if it does not know it.
    func entry(of login: LoginHandle) -> ManifestEntry? {
        if let places { return places[login].map { entry($0) } }
        for index in 0..<loginCount {
            let candidate = entry(index)
            if candidate.login == login { return candidate }
        }
        return nil
    }

    var userIdText: String { unsafe String(decoding: userId, as: UTF8.self) }
}

/// A user as a write transaction holds him.
struct OpenUser {
    var columns: UserColumns
    var id: String
    var status: UserStatus
    var createdAt: Timestamp
    private(set) var dataKey: SealingKey
    private(set) var dataKeyMadeAt: Timestamp?
    var manifest: [ManifestEntry]

    init(columns: UserColumns, cell: UserCellView) throws(VaultCryptoError) {
        self.columns = columns
        id = cell.userIdText
        status = cell.status
        createdAt = cell.createdAt
        dataKeyMadeAt = cell.dataKeyMadeAt
        dataKey = try unsafe SealingKey(id: KeyID(columns.handle.bytes), copying: cell.dataKey)
        manifest = (0..<cell.loginCount).map { cell.entry($0) }
    }

    /// A user that the vault does not have yet.
    init(new columns: UserColumns, id: String, createdAt: Timestamp) throws(VaultCryptoError) {
        self.columns = columns
        self.id = id
        self.createdAt = createdAt
        status = .active
        manifest = []
        dataKey = try Self.newDataKey(columns.handle)
    }

    /// What the former one has sealed must be sealed anew.
    mutating func replaceDataKey(at time: Timestamp) throws(VaultCryptoError) {
        dataKey = try Self.newDataKey(columns.handle)
        dataKeyMadeAt = time
    }

    private static func newDataKey(_ user: UserHandle) throws(VaultCryptoError) -> SealingKey {
        try SealingKey.generate(id: KeyID(user.bytes))
    }

    func seal(_ context: VaultContext) throws(VaultCryptoError) -> [UInt8] {
        var record = RecordWriter(capacity: 192 + id.utf8.count + manifest.count * ManifestEntry.byteCount)
        record.append(UserCellTag.dataKey, dataKey)
        record.append(UserCellTag.userId, id)
        record.append(UserCellTag.status, status.rawValue)
        record.append(UserCellTag.createdAt, createdAt.milliseconds)
        unsafe manifestBytes.withUnsafeBytes { unsafe record.append(UserCellTag.manifest, bytes: $0) }
        record.append(UserCellTag.dataKeyMadeAt, dataKeyMadeAt?.milliseconds)
        return try SealedCell.seal(
            record, kind: .user, key: try context.root(columns.rootKey),
            associatedData: columns.associatedData(context.vaultID))
    }

    private var manifestBytes: [UInt8] {
        let count = manifest.count * ManifestEntry.byteCount
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            for (index, entry) in manifest.enumerated() {
                let start = index * ManifestEntry.byteCount
                unsafe bytes.storeBytes(of: entry.login.bytes, toByteOffset: start, as: Bytes16.self)
                unsafe bytes.storeBytes(
                    of: entry.revision.littleEndian, toByteOffset: start + 16, as: Int64.self)
                unsafe bytes.storeBytes(of: entry.tag.bytes, toByteOffset: start + 24, as: Bytes16.self)
            }
            initialized = count
        }
    }
}
