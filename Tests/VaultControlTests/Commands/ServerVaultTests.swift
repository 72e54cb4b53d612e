import DevAuthorizationServer
import EngineSupport
import Foundation
import Glibc
import TestSupport
import Testing
import VaultControl

/// The same commands on a vault that lies on a PostgreSQL server.
@Suite(.tags(.everyEngine))
struct ServerVaultTests {
    private static func address() throws -> String {
        try PostgreSQLServer.shared().address(schema: PostgreSQLServer.newSchema())
    }

    @Test func aVaultOnAServerLivesItsWholeLife() async throws {
        try await World.with({ $0.accessTokenLifetime = .seconds(60) }, vault: Self.address()) { world in
            let login = try await world.logIn("alice")
            try await world.logIn("bob")
            #expect(try await world.ok("token", "get", "--user", "alice", "--reveal").line.contains(Harness.marker))
            // Tokens of a minute are renewed with each read; each refresh token is sent once.
            let sent = world.refreshes
            try await world.ok("login", "refresh", login)
            #expect(world.refreshes == sent + 1)
            let status = try await world.ok("status", "--json").json
            #expect(status["engine"] as? String == "PostgreSQL" && status["logins"] as? Int == 2)
            #expect(try await world.ok("status").output.contains("\nPostgreSQL\t"))
            #expect(try await world.ok("login", "list").output.contains("alice"))
            try await world.ok("key", "rotate")
            try await world.ok("migrate", "status")
            // The server's files keep former bytes for a while, and that is said.
            let erased = try await world.harness.run("user", "erase", "bob", "--yes")
            #expect(
                erased.status == ExitStatus.partlyDone.rawValue && erased.error.contains("vacuumed"), "\(erased.error)")
            #expect(try await world.ok("user", "list").output.contains("alice"))
            #expect(try await world.ok("audit", "list").output.contains("alice") == false)
            try await world.ok("verify")
        }
    }

    @Test func doctorSpeaksOfTheServerAndNotOfFiles() async throws {
        let harness = try Harness(server: Self.address())
        try await harness.run("init")
        let result = try await harness.run("doctor", "--json")
        #expect(result.status == ExitStatus.partlyDone.rawValue)
        let findings = try #require(try result.json["findings"] as? [[String: Any]])
        let server = try #require(findings.first { $0["check"] as? String == "server" })
        #expect(server["level"] as? String == "warning")
        let backup = try #require(findings.first { $0["check"] as? String == "backup" })
        #expect((backup["hint"] as? String)?.contains("database") == true)
        #expect(try await harness.run("backup", "list").status == 0)
        #expect(!findings.contains { ["file", "sqlite"].contains($0["check"] as? String ?? "") })
    }

    @Test func theRowOfAMigrationNamesTheOperator() async throws {
        let harness = try Harness(server: Self.address())
        try await harness.run("init")
        let behind = try TableIntruder(harness.vault)
        try behind.execute(#"DROP TABLE "manifestPart", "observer""#, #"DELETE FROM "migration" WHERE "version" > 1"#)
        let migrated = try await harness.run("migrate", "up", "--yes")
        #expect(migrated.status == 0, "\(migrated.error)")
        let rows = try await harness.run("audit", "list", "--all", "--json", "--kind", "vaultMigrated").output
        let row = try #require(
            try rows.split(separator: "\n").last.map { try JSONSerialization.jsonObject(with: Data($0.utf8)) })
        let actor = try #require((row as? [String: Any])?["actor"] as? [String: Any], "\(rows)")
        #expect(actor["tool"] as? String == "vaultctl migrate up")
        #expect(actor["uid"] as? Int == Int(geteuid()))
    }

    @Test func whatNeedsAFileSaysWhatToUseInstead() async throws {
        let harness = try Harness(server: Self.address())
        try await harness.run("init")
        let backup = try await harness.run("backup", "create", harness.directory)
        #expect(backup.status != 0 && backup.error.contains("pg_basebackup"))
        let again = try await harness.run("init")
        #expect(again.status == ExitStatus.usage.rawValue && again.error.contains("another schema"))
        let every = try await harness.run(
            "maintain", "--once", "--backup-every", "1h", "--backup-dir", harness.directory)
        #expect(every.status == ExitStatus.usage.rawValue && every.error.contains("backed up with its database"))
        let restored = try await harness.run("backup", "restore", harness.path("backup"), harness.vault)
        #expect(restored.status == ExitStatus.usage.rawValue && restored.error.contains("vaultctl move run"))
        let snapshots = try await harness.run("migrate", "discard")
        #expect(snapshots.status == 0 && snapshots.error.contains("nothing to do"))
        #expect(try await harness.run("verify").status == 0)
    }

    @Test func theConfigurationFileNamesTheServer() async throws {
        let harness = try Harness(server: Self.address())
        try await harness.run("init")
        let file = try harness.file(
            "vaultctl.toml", "vault = \"\(harness.vault)\"\nkey-file = \"\(harness.key)\"\n")
        let status = try await harness.run(["status", "--brief", "--json", "--config", file], environment: [:])
        #expect(status.status == 0, "\(status.error)")
        #expect(try status.json["engine"] as? String == "PostgreSQL")
        try harness.file("vaultctl.toml", "vault = \"http://db.example\"\n")
        let odd = try await harness.run(["status", "--config", file], environment: [:])
        #expect(odd.status == ExitStatus.usage.rawValue && odd.error.contains("postgresql://"), "\(odd.error)")
    }

    @Test func whatCannotBeReachedOrReadIsToldApart() async throws {
        let harness = try Harness(server: Self.address())
        let absent = try await harness.run("status")
        #expect(absent.status == ExitStatus.notFound.rawValue || absent.status == ExitStatus.key.rawValue)
        try await harness.run("init")
        let words = "postgresql://vault:\(Harness.marker)@/postgres"
        let password = try await harness.run("--vault", words, "status")
        #expect(password.status == ExitStatus.usage.rawValue && password.error.contains(".pgpass"))
        let nowhere = try await harness.run("--vault", "postgresql://127.0.0.1:1/postgres", "status")
        #expect(nowhere.status == ExitStatus.busy.rawValue && nowhere.error.contains("cannot be reached"))
        let open = try await harness.run("--vault", "postgresql://db.example/app?sslmode=disable", "status")
        #expect(open.status == ExitStatus.usage.rawValue && open.error.contains("verify-full"))
        let nonsense = try await harness.run("--vault", "postgresql://[nonsense", "status")
        #expect(nonsense.status == ExitStatus.usage.rawValue)
    }
}
