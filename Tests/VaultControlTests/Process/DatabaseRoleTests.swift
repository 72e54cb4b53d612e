import EngineSupport
import Foundation
import TestSupport
import Testing
import VaultControl

/// A database role that the server does not let in, or that may not do what the vault needs.
struct DatabaseRoleTests {
    /// A vault whose owner is the superuser, and a role for services with what docs/postgresql.md grants it.
    private struct Setup {
        let server: PostgreSQLServer
        let harness: Harness
        let schema = PostgreSQLServer.newSchema()
        let intruder: TableIntruder

        init() async throws {
            server = try PostgreSQLServer()
            let owner = server.address(schema: schema)
            harness = try Harness(server: owner)
            #expect(try await harness.run("init").status == 0)
            intruder = try TableIntruder(owner)
            try intruder.execute(
                "CREATE ROLE service LOGIN PASSWORD 'right'", "GRANT USAGE ON SCHEMA \(schema) TO service",
                "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO service")
        }

        func run(_ arguments: [String], passwords: String? = nil) async throws -> RunResult {
            let address = "postgresql://service@/postgres?host=\(server.directory)&schema=\(schema)"
            let more = passwords.map { "&passfile=\($0)" } ?? ""
            return try await harness.run(["--vault", address + more] + arguments)
        }
    }

    @Test("a password that is wrong or missing is reported as that")
    func passwords() async throws {
        let setup = try await Setup()
        let access = URL(filePath: setup.server.directory + "/data/pg_hba.conf")
        let rules = try String(contentsOf: access, encoding: .utf8)
        // In place: the file stays its owner's.
        let handle = try FileHandle(forWritingTo: access)
        try handle.write(contentsOf: Data(("local all service scram-sha-256\n" + rules).utf8))
        try handle.close()
        try setup.server.restart()
        let right = try setup.harness.file("right", "*:*:*:*:right\n")
        #expect(try await setup.run(["status"], passwords: right).status == 0)
        let cases = [
            (try setup.harness.file("wrong", "*:*:*:*:wrong\n"), "refused the password"),
            (try setup.harness.file("empty", ""), "asks for a password"),
            (try setup.harness.file("open", "*:*:*:*:right\n", mode: 0o644), "asks for a password"),
        ]
        for (file, words) in cases {
            for command in [["status"], ["maintain", "--once"], ["maintain"]] {
                let refused = try await setup.run(command, passwords: file)
                #expect(refused.status == VaultControl.ExitStatus.machine.rawValue, "\(command): \(refused.error)")
                #expect(refused.error.contains(words) && refused.error.contains("pgpass"), "\(refused.error)")
            }
        }
    }

    @Test("a role without the right to use the schema is not taken for a changed schema")
    func noUsage() async throws {
        let setup = try await Setup()
        try setup.intruder.execute("REVOKE USAGE ON SCHEMA \(setup.schema) FROM service")
        for command in [["status"], ["init"]] {
            let refused = try await setup.run(command)
            #expect(refused.status == VaultControl.ExitStatus.machine.rawValue, "\(command): \(refused.error)")
            #expect(refused.error.contains("may not use the schema \(setup.schema)"), "\(refused.error)")
        }
    }

    /// A migration makes a table, and nobody grants it to the services' role.
    @Test("a table without grants is reported as that", arguments: ["audit", "manifestPart", "observer"])
    func grants(_ table: String) async throws {
        let setup = try await Setup()
        #expect(try await setup.run(["verify"]).status == 0)
        try setup.intruder.execute(#"REVOKE ALL ON "\#(table)" FROM service"#)
        let refused = try await setup.run(["verify"])
        #expect(refused.status == VaultControl.ExitStatus.machine.rawValue, "\(refused.error)")
        #expect(refused.error.contains("the database role may not do that"), "\(refused.error)")
        #expect(refused.error.contains("tokenvault-postgresql") || refused.error.contains("docs/postgresql.md"))
    }
}
