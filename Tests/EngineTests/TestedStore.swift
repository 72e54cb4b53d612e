import Foundation
import Synchronization
import TestSupport
import TokenVaultTesting
import VaultCrypto
import VaultPostgreSQL
import VaultSQLite
import VaultStorage

/// What keeps a vault, for tests that ask the same of each.
enum TestedPlace: String, CaseIterable, Sendable {
    case file, memory, server

    func make() throws -> TestedStore { try TestedStore(self) }
}

/// A vault with one key, and processes that have it open.
final class TestedStore: Sendable {
    static let start = Timestamp(milliseconds: 1_800_000_000_000)

    let key: MemoryKey
    let store: any VaultStore
    private let clock: SharedTime
    private let directory: PrivateDirectory?
    private let memory: MemoryVault?
    private let server: ServerAddress?

    init(_ place: TestedPlace) throws {
        let key = try MemoryKey()
        self.key = key
        let time = SharedTime()
        clock = time
        switch place {
        case .file:
            let directory = try PrivateDirectory(in: PrivateDirectory.fastParent)
            store = try SQLiteVaultStore.create(
                at: directory.file("vault.db"), firstSlot: key, label: "test",
                cachedLogins: Depth.cachedLogins, clock: { time.now })
            self.directory = directory
            (memory, server) = (nil, nil)
        case .memory:
            let memory = try MemoryVault(firstSlot: key) { time.now }
            store = try memory.open(key)
            self.memory = memory
            (directory, server) = (nil, nil)
        case .server:
            let directory = try PrivateDirectory(in: PrivateDirectory.fastParent)
            let address = try ServerAddress(PostgreSQLServer.shared().address(schema: PostgreSQLServer.newSchema()))
            store = try PostgreSQLVaultStore.create(
                at: address, state: StateDirectory(directory.file("state")), firstSlot: key, label: "test",
                clock: { time.now })
            self.directory = directory
            memory = nil
            server = address
        }
    }

    deinit { store.close() }

    /// Everything that the vault's files hold, one after the other; nil for an engine without files.
    func fileBytes() throws -> [UInt8]? {
        guard let directory, server == nil else { return nil }
        return try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted().flatMap { name in
            [UInt8](FileManager.default.contents(atPath: directory.file(name)) ?? Data())
        }
    }

    var now: Timestamp { clock.now }

    func advance(by duration: Duration) { clock.advance(by: duration) }

    /// As another process would.
    func open(with key: MemoryKey? = nil) throws -> any VaultStore {
        let (key, clock) = (key ?? self.key, clock)
        if let memory { return try memory.open(key) }
        guard let directory else { throw StoreError(.vaultMissing, "there is no vault") }
        if let server {
            return try PostgreSQLVaultStore.open(
                at: server, state: StateDirectory(directory.file("state")), unlocker: key, clock: { clock.now })
        }
        return try SQLiteVaultStore.open(
            at: directory.file("vault.db"), unlocker: key, cachedLogins: Depth.cachedLogins, clock: { clock.now })
    }

    // MARK: What is put into it

    func draft(_ user: String, provider: ProviderHandle? = nil, dueIn: Duration? = nil) -> LoginDraft {
        let session = SessionRecord(
            state: .established, accessToken: SecretBytes(utf8: "access of \(user)"), createdAt: now, obtainedAt: now,
            expiresAt: now.advanced(by: .seconds(3_600)))
        return LoginDraft(
            userId: user, provider: provider, session: session,
            refresh: RefreshRecord(refreshToken: SecretBytes(utf8: "refresh of \(user)")),
            dueAt: dueIn.map { now.advanced(by: $0) })
    }

    func provider(_ name: String) -> ProviderRecord {
        ProviderRecord(
            name: name, issuer: nil, tokenEndpoint: "https://\(name).example/token", clientID: "client",
            clientAuthentication: "none", profileName: "standard", createdAt: now)
    }

    func request(_ state: String, for provider: ProviderHandle, lasting: Duration = .seconds(600))
        -> AuthorizationRequestRecord
    {
        AuthorizationRequestRecord(
            state: SecretBytes(utf8: state), codeVerifier: SecretBytes(utf8: "verifier"), provider: provider,
            userId: "alice", createdAt: now, expiresAt: now.advanced(by: lasting))
    }

    func revocation(_ token: String, at provider: ProviderHandle) -> OutboxRecord {
        OutboxRecord(
            provider: provider, login: nil, user: nil, refreshToken: SecretBytes(utf8: token), accessToken: nil,
            createdAt: now)
    }

    func reply(to login: StoredLogin) -> SpooledReply {
        SpooledReply(
            login: login.handle, user: login.user, provider: login.provider, position: login.position, fence: 1,
            accessToken: SecretBytes(utf8: "spooled"), tokenType: "Bearer", obtainedAt: now)
    }
}

/// A clock that all processes of a test share.
private final class SharedTime: Sendable {
    private let time = Mutex(TestedStore.start)

    var now: Timestamp { time.withLock { $0 } }
    func advance(by duration: Duration) { time.withLock { $0 = $0.advanced(by: duration) } }
}
