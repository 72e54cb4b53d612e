import TestSupport
import Testing

@testable import VaultPostgreSQL
@testable import VaultStorage

/// Two servers, and a vault on them.
struct Cluster {
    let primary: PostgreSQLServer
    let standby: PostgreSQLServer
    let vault: ServerVault

    /// - Parameter asksStandbyFirst: Whether the standby is the first host of the connection string.
    init(asksStandbyFirst: Bool = false, timeouts: FailoverTimeouts = .init()) throws {
        primary = try PostgreSQLServer()
        standby = try PostgreSQLServer(standbyOf: primary)
        vault =
            asksStandbyFirst
            ? try ServerVault(standby, or: primary, timeouts: timeouts)
            : try ServerVault(primary, or: standby, timeouts: timeouts)
    }

    var store: PostgreSQLVaultStore { vault.store }

    /// Waits until the standby has everything.
    func catchUp() async throws {
        try await eventually {
            let answer = try vault.sql(
                "SELECT count(*) FROM pg_stat_replication WHERE replay_lsn = pg_current_wal_lsn()")
            return answer.integer(0, 0) == 1
        }
    }

    /// From here on the standby misses what is committed.
    func detach() async throws {
        try await catchUp()
        try standby.detach()
        try await eventually {
            try vault.sql("SELECT count(*) FROM pg_stat_replication").integer(0, 0) == 0
        }
    }

    /// Another process of the vault, whose way to the standby can be cut off.
    func open(machine: String) throws -> (store: PostgreSQLVaultStore, way: CuttingProxy) {
        let way = try CuttingProxy(to: standby.directory)
        let hosts = "\(primary.directory),\(way.directory)"
        let address = try ServerAddress("postgresql://vault@/postgres?host=\(hosts)&schema=\(vault.address.schema)")
        return (try vault.open(at: address, machine: machine), way)
    }

    func failOver() throws {
        try primary.stop()
        try standby.promote()
    }

    /// The content of all tables of the vault, without those of the engine.
    func content() throws -> [String] {
        try Table.allCases.map { table in
            let answer = try vault.sql(
                """
                SELECT count(*) || ' ' || COALESCE(md5(string_agg(r::text, ',' ORDER BY r::text)), '')
                FROM \(table.sql) r
                """)
            return "\(table.rawValue) \(answer.text(0, 0))"
        }
    }

    /// Tries for as long as it is being found out what was lost.
    func goOn(_ body: () async throws -> Void) async throws {
        for _ in 0..<6_000 {
            do { return try await body() } catch let error as StoreError where error.code == .busy {
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        throw NeverHappened()
    }

    /// Read by the process that has stayed, which may hear later than others that it is settled.
    func outcome() async throws -> [String: String] {
        var outcome: [String: String] = [:]
        try await goOn { outcome = try await ServerVault.outcome(store) }
        return outcome
    }

    /// Promotes the standby, and lets the surviving process go on. Returns whether a login is held then.
    func failOverAndGoOn(_ login: LoginHandle) async throws -> Bool {
        try failOver()
        try await goOn { _ = try await store.write { _ in } }
        return try await store.login(login).isHeld
    }

    /// A process that had the vault open, and does not come back.
    func leaveGhost() throws {
        try vault.sql(
            """
            INSERT INTO "process" ("owner", "host", "pid", "timeline", "hasChanged")
            SELECT 4711, 'ghost', 1, "timeline", true FROM "engineState"
            """)
    }
}
