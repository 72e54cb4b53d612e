import Foundation
import TestSupport
import Testing
import TokenVaultTesting
import VaultCrypto

@testable import VaultPostgreSQL
@testable import VaultStorage

/// A vault in a schema of its own, on the server of this process's tests.
final class ServerVault: Sendable {
    static let now = Timestamp(milliseconds: 1_800_000_000_000)

    let server: PostgreSQLServer
    let address: ServerAddress
    let key: MemoryKey
    let store: PostgreSQLVaultStore
    private let state: PrivateDirectory
    private let timeouts: FailoverTimeouts

    /// - Parameters:
    ///   - server: nil: the one that all tests share.
    ///   - standby: may take its place.
    ///   - timeouts: of all processes that open the vault.
    init(
        _ server: PostgreSQLServer? = nil, or standby: PostgreSQLServer? = nil, timeouts: FailoverTimeouts = .init()
    ) throws {
        self.server = try server ?? PostgreSQLServer.shared()
        address = try ServerAddress(self.server.address(schema: PostgreSQLServer.newSchema(), or: standby))
        key = try MemoryKey()
        state = try PrivateDirectory(in: PrivateDirectory.fastParent)
        self.timeouts = timeouts
        store = try PostgreSQLVaultStore.create(
            at: address, state: StateDirectory(state.file("state")), firstSlot: key, label: "test", timeouts: timeouts,
            clock: { Self.now })
    }

    deinit { store.close() }

    /// As another process would, on a machine of its own or on this one.
    func open(
        through proxy: CuttingProxy? = nil, machine: String = "other", migrate: Bool = false,
        timeouts: FailoverTimeouts? = nil
    ) throws -> PostgreSQLVaultStore {
        try open(at: address(through: proxy), machine: machine, migrate: migrate, timeouts: timeouts)
    }

    /// A process that comes, changes a login, and has left in good order when this returns.
    func change(_ login: LoginHandle, to label: String, machine: String) async throws {
        let process = try open(machine: machine)
        try await process.updateLogin(login) { $0.session.label = label }
        await process.shutDown()
    }

    /// What the trail says about the last failover or restore, as a process reads it.
    static func outcome(_ store: PostgreSQLVaultStore) async throws -> [String: String] {
        let entries = try await store.auditEntries(after: 0, limit: 1_000)
        let last = try #require(entries.last { $0.kind == .failoverSettled })
        return Dictionary(last.detail.map { ($0.key, $0.value) }) { $1 }
    }

    /// By another way to the same schema.
    func open(
        at address: ServerAddress, machine: String = "other", migrate: Bool = false, timeouts: FailoverTimeouts? = nil
    ) throws -> PostgreSQLVaultStore {
        try PostgreSQLVaultStore.open(
            at: address, state: StateDirectory(state.file(machine)), unlocker: key, migrate: migrate,
            timeouts: timeouts ?? self.timeouts, clock: { Self.now })
    }

    /// Waits for whoever is expected, however slow the machine is.
    static var longTimeouts: FailoverTimeouts {
        var timeouts = FailoverTimeouts()
        (timeouts.withWriters, timeouts.withReaders) = (.seconds(600), .seconds(600))
        return timeouts
    }

    /// Where a machine of that name keeps its state.
    func stateFile(_ machine: String) -> String { state.file(machine) }

    func address(through proxy: CuttingProxy?) throws -> ServerAddress {
        guard let proxy else { return address }
        return try ServerAddress("postgresql://vault@/postgres?host=\(proxy.directory)&schema=\(address.schema)")
    }

    func draft(_ user: String) -> LoginDraft {
        let session = SessionRecord(
            state: .established, accessToken: SecretBytes(utf8: "access of \(user)"), createdAt: Self.now,
            obtainedAt: Self.now, expiresAt: Self.now.advanced(by: .seconds(3_600)))
        return LoginDraft(
            userId: user, provider: nil, session: session,
            refresh: RefreshRecord(refreshToken: SecretBytes(utf8: "refresh of \(user)")))
    }

    // MARK: Behind the store's back

    func connect() throws -> ServerConnection {
        let connection = try ServerConnection(address)
        try SessionSettings.apply(to: connection, address)
        return connection
    }

    @discardableResult
    func sql(_ command: String) throws -> ResultSet {
        let connection = try connect()
        defer { connection.close() }
        return try connection.answer(to: connection.send(Statement(command, isKept: false)))
    }

    /// From here on each commit waits for the standby.
    func demandStandby() async throws {
        try sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
        try sql("SELECT pg_reload_conf()")
        try await eventually {
            try sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'").integer(0, 0) == 1
        }
    }

    func isAlive(_ owner: Int64) throws -> Bool {
        ServerTables(try connect(), address, .unknown).isOwnerAlive(owner)
    }

    func holdsLock(_ owner: Int64) throws -> Bool {
        let question = Statement("SELECT count(*) FROM (\(AdvisoryLock.holders)) h", [.integer])
        let connection = try connect()
        return try connection.answer(to: connection.send(question, Parameters([.integer(owner)]))).integer(0, 0) == 1
    }

    /// As `pg_restore` does.
    func makeTableAnew() throws {
        for command in [
            #"CREATE TABLE "copy" (LIKE "engineState" INCLUDING ALL) WITH (fillfactor = 10)"#,
            #"INSERT INTO "copy" SELECT * FROM "engineState""#, #"DROP TABLE "engineState""#,
            #"ALTER TABLE "copy" RENAME TO "engineState""#,
        ] { try sql(command) }
    }

    /// Whether a process counts as one that changes the vault; nil if it has left.
    func hasChanged(_ owner: Int64) throws -> Bool? {
        let row = try sql(#"SELECT "hasChanged"::int::int8 FROM "process" WHERE "owner" = \#(owner)"#)
        return row.rowCount == 0 ? nil : row.integer(0, 0) != 0
    }

    func changeCount() throws -> Int64 { try sql(#"SELECT "changeCount" FROM "engineState""#).integer(0, 0) }

    /// Leaves on a machine what a process knows, as processes of that machine do.
    func remember(_ store: PostgreSQLVaultStore, on machine: String) throws {
        let directory = try StateDirectory(state.file(machine)).directory(of: store.context.vaultID)
        let tables = ServerTables(try connect(), address, .unknown)
        let path = MachineNote.path(in: directory, address, place: try tables.whereabouts(TimelineTracker()).place)
        MachineNote.keep(store.watch, store.context, at: path, by: store.owner)
    }

    /// Puts the database back to where it was before the login was changed, and before the process of the test ended.
    func putBackBehindAChange(_ login: LoginHandle) async throws {
        try server.snapshot()
        try await store.updateLogin(login) { $0.session.label = "since then" }
        await store.shutDown()
        try server.putBack()
    }

    /// Which process of the server.
    func lockHolder(_ owner: Int64) throws -> Int64? {
        let question = Statement("SELECT pid::int8\(AdvisoryLock.holders.dropFirst("SELECT 1".count))", [.integer])
        let connection = try connect()
        let answer = try connection.answer(to: connection.send(question, Parameters([.integer(owner)])))
        return answer.rowCount == 1 ? answer.integer(0, 0) : nil
    }

    /// Ends the session that holds the store's lock, as a network does that is cut for long.
    func cutOff(_ store: PostgreSQLVaultStore) throws {
        let holders = AdvisoryLock.holders.split(separator: "SELECT 1 FROM pg_locks").joined()
        let connection = try connect()
        try connection.send(
            Statement("SELECT pg_terminate_backend(pid) FROM pg_locks\(holders)", [.integer], isKept: false),
            Parameters([.integer(store.owner)]))
        try connection.sync()
    }
}
