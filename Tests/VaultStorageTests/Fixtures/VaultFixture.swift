import TestSupport
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// A directory of its own with a key file and, once made, a vault; removed when the test is over.
final class VaultFixture: Sendable {
    let directory: PrivateDirectory
    private let time: SteppingClock

    /// - Parameter makesKey: False where the key file is to be laid out by the test.
    init(
        in directory: PrivateDirectory? = nil, time: SteppingClock = SteppingClock(), makesKey: Bool = true
    ) throws {
        self.directory = try directory ?? PrivateDirectory()
        self.time = time
        if makesKey { _ = try KeyFile.create(at: keyFile) }
    }

    var path: String { directory.file("vault.db") }
    var keyFile: String { directory.file("vault.key") }
    /// Of the second slot, once ``addSpareKey(to:)`` has made it.
    var spareKeyFile: String { directory.file("spare.key") }
    var unlocker: KeyFileUnlocker { KeyFileUnlocker(path: keyFile) }
    var spareUnlocker: KeyFileUnlocker { KeyFileUnlocker(path: spareKeyFile) }

    var now: Timestamp { time.now }
    var clock: @Sendable () -> Timestamp { { [time] in time.now } }
    func advance(by duration: Duration) { time.advance(duration) }

    func create() throws(StoreError) -> SQLiteVaultStore {
        try SQLiteVaultStore.create(
            at: path, firstSlot: unlocker, label: "test", cachedLogins: Depth.cachedLogins, clock: clock)
    }

    /// Makes a vault with one login, and lets go of all its files.
    func populateBriefly() async throws {
        let store = try create()
        _ = try await store.insertLogin(draft("alice"))
        store.close()
    }

    func open(
        with keyFile: String? = nil, migrate: Bool = false, cachedLogins: Int = Depth.cachedLogins
    ) throws(StoreError) -> SQLiteVaultStore {
        try SQLiteVaultStore.open(
            at: path, unlocker: KeyFileUnlocker(path: keyFile ?? self.keyFile), migrate: migrate,
            cachedLogins: cachedLogins, clock: clock)
    }

    @discardableResult
    func addSpareKey(to store: any VaultStore) async throws -> KeySlotHandle {
        _ = try KeyFile.create(at: spareKeyFile)
        return try await store.addKeySlot(spareUnlocker, label: "spare").handle
    }

    /// What an attacker without a key can do to the file.
    func edit(_ sql: String) throws {
        let connection = try Connection(path: path)
        try connection.execute(
            "PRAGMA foreign_keys = 0; PRAGMA wal_autocheckpoint = 0; PRAGMA ignore_check_constraints = 1")
        try connection.execute(sql)
    }

    func bytes(_ sql: String) throws -> [UInt8] {
        let connection = try Connection(path: path)
        return try withExtendedLifetime(connection) {
            let statement = try Statement(connection, sql)
            return try statement.step() ? statement.bytes(0) : []
        }
    }

    func integer(_ sql: String) throws -> Int64 { try Connection(path: path).integer(sql) }
}

extension SecretBytes {
    /// Carries a marker that must never be seen in a file.
    static func canary(_ name: String) -> SecretBytes { SecretBytes(utf8: "CANARY-\(name)-CANARY") }
}

extension SessionRecord {
    static func sample(
        _ name: String, at now: Timestamp, state: SessionStateCode = .established
    ) -> SessionRecord {
        SessionRecord(
            state: state, accessToken: .canary("access-\(name)"), createdAt: now, obtainedAt: now,
            expiresAt: now.advanced(by: .seconds(3601)))
    }
}

extension ProviderRecord {
    static func sample(_ name: String = "acme", at now: Timestamp) -> ProviderRecord {
        var record = ProviderRecord(
            name: name, issuer: "https://as.example", tokenEndpoint: "https://as.example/token", clientID: "client",
            clientAuthentication: "client_secret_basic", profileName: "standard", createdAt: now)
        record.clientSecrets = [.canary("client-secret")]
        record.parameters = ["prompt": "consent", "audience": "x"]
        record.scopesSupported = ["a", "b"]
        record.apiOrigins = ["https://api.example", "https://*.api.example"]
        return record
    }
}

extension VaultFixture {
    func draft(
        _ user: String, _ name: String? = nil, provider: ProviderHandle? = nil, isBound: Bool = false
    ) -> LoginDraft {
        let name = name ?? user
        return LoginDraft(
            userId: user, provider: provider, session: .sample(name, at: now),
            refresh: RefreshRecord(refreshToken: .canary("refresh-\(name)")),
            key: isBound
                ? KeyRecord(dpopPrivateKey: SecretBytes(copying: Array(0..<32)), nonces: ["https://a": "n"]) : nil,
            dueAt: now.advanced(by: .seconds(3000)))
    }
}
