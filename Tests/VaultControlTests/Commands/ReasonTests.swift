import DevAuthorizationServer
import EngineSupport
import Foundation
import Glibc
import TestSupport
import Testing

@testable import TokenVault
@testable import VaultControl

/// An operator is told why nothing goes on, in words of its own for each reason, and what to do.
struct ReasonTests {
    private static func address(_ server: PostgreSQLServer, role: String = "vault", database: String = "postgres")
        -> String
    {
        "postgresql://\(role)@/\(database)?host=\(server.directory)&schema=\(PostgreSQLServer.newSchema())"
    }

    @Test func aServerThatIsGoneIsToldOnceAndSoIsItsReturn() async throws {
        let server = try PostgreSQLServer()
        try await World.with({ $0.accessTokenLifetime = .seconds(5) }, vault: Self.address(server)) { world in
            try await world.logIn("alice")
            let maintainer = try Maintainer(world.harness)
            try await maintainer.hasSaid("renewed ")
            try server.stop()
            try await maintainer.hasSaid("nothing can be renewed: the database server cannot be reached")
            let before = world.refreshes
            try server.start()
            try await maintainer.hasSaid("logins can be renewed again")
            while world.refreshes == before { try await Task.sleep(for: .milliseconds(50)) }
            kill(maintainer.process.processIdentifier, SIGTERM)
            #expect(await maintainer.end() == 0)
            #expect(maintainer.words.split(separator: "\n").count { $0.contains("nothing can be renewed") } == 1)
        }
    }

    @Test func aVaultThatWasMovedEndsTheScheduler() async throws {
        try await World.with { world in
            try await world.logIn("alice")
            let target = world.harness.path("target.vault")
            let key = world.harness.path("target.key")
            try await world.ok("init", "--vault", target, "--key-file", key)
            let maintainer = try Maintainer(world.harness)
            try await maintainer.hasSaid("maintaining this vault")
            let move = ["move", "run", target, "--target-key-file", key, "--yes"]
            #expect(try await world.ok(move).error.contains("moved 1 login of 1 user"))
            #expect(await maintainer.end() == VaultControl.ExitStatus.rollback.rawValue)
            #expect(maintainer.words.contains("was moved to another vault"))
            for options in [["maintain"], ["maintain", "--once"]] {
                let late = try await world.harness.run(options)
                #expect(
                    late.status == VaultControl.ExitStatus.rollback.rawValue
                        && late.error.contains("vaultctl move status"))
            }
            // Nothing is left to be moved, and nothing else is said.
            let again = try await world.ok(move)
            #expect(again.error.contains("moved to that vault before") && !again.error.contains("moved 1 login"))
            #expect(try await world.ok(move + ["--json"]).json["wasComplete"] as? Bool == true)
        }
    }

    @Test func aMoveNamesTheLoginsForWhichItWaits() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            for _ in 0..<5 { world.server.faults.add(.status(500, headers: ["Retry-After": "60"])) }
            _ = try await world.harness.run("login", "refresh", login)
            let target = world.harness.path("target.vault")
            let key = world.harness.path("target.key")
            try await world.ok("init", "--vault", target, "--key-file", key)
            let blocked = try await world.harness.run(
                "move", "run", target, "--target-key-file", key, "--dry-run", "--yes")
            #expect(blocked.status == VaultControl.ExitStatus.busy.rawValue)
            #expect(
                blocked.error.contains("\(login) (in doubt; not sent again before 20")
                    && blocked.error.contains("vaultctl login show \(login)"), "\(blocked.error)")
        }
    }

    @Test(arguments: [
        ("mysql://db/app", "postgresql://"), ("jdbc:postgresql://db/app", "postgresql://"),
        ("https://example.com/app.vault", "postgresql://"), ("sqlite:app.vault", "path"),
        ("file:///srv/app.vault", "path"),
    ])
    func anAddressOfSomethingElseIsRefused(address: String, word: String) async throws {
        let harness = try Harness()
        for command in ["init", "status"] {
            let refused = try await harness.run("--vault", address, command)
            #expect(refused.status == VaultControl.ExitStatus.usage.rawValue, "\(refused.error)")
            #expect(refused.error.contains(word) && !refused.error.contains("vaultctl init"), "\(refused.error)")
        }
    }

    @Test func aServerThatRefusesSaysWhat() async throws {
        let server = try PostgreSQLServer.shared()
        let harness = try Harness(server: Self.address(server))
        try await harness.run("init")
        func refused(_ vault: String, _ status: VaultControl.ExitStatus, _ words: String, _ hint: String) async throws {
            let result = try await harness.run("--vault", vault, "status")
            #expect(result.status == status.rawValue, "\(result.error)")
            #expect(result.error.contains(words) && result.error.contains(hint), "\(result.error)")
        }
        try await refused(
            Self.address(server, database: "nosuch"), .notFound, "has no database of that name", "createdb")
        try await refused(
            Self.address(server, role: "nosuch"), .machine, "does not allow the database role", "pg_hba.conf")
    }

    @Test func doctorWarnsWhereNothingWouldNoticeASnapshot() async throws {
        let harness = try Harness(server: Self.address(try .shared()))
        try await harness.run("init")
        let findings = try await harness.run("doctor", "--json").json["findings"] as? [[String: Any]]
        #expect(findings?.first { $0["check"] as? String == "witness" }?["level"] as? String == "warning")
    }

    /// What a renewal has met is told once; what passes by itself only if it lasts.
    @Test func whatConcernsAllLoginsIsToldOnce() async throws {
        let harness = try Harness()
        try await harness.run("init")
        let vault = try await Vault.open(in: harness.location(), unlockedBy: .keyFile(harness.key))
        let login = try #require(LoginID("aaaaaaaaaaaaaaaaaaaaaaaaaa"))
        let told = Box<[String]>([])
        let watch = MaintainWatch(vault, isFile: true) { text, _ in told.value.append(text) }
        func renewal(_ code: VaultError.Code?) -> ScheduledRenewal {
            ScheduledRenewal(
                login: login, provider: "acme", outcome: code == nil ? .renewed : .refused,
                failure: nil, answer: nil, obstacle: code.map { VaultError($0, "words", hint: "hint") }, expiresAt: nil,
                nextDue: nil)
        }
        #expect(watch.note(renewal(.storageFull)) && watch.note(renewal(.storageFull)))
        #expect(told.value == ["nothing can be renewed: words; hint: hint"])
        #expect(!watch.note(renewal(.held)) && !watch.note(renewal(nil)))
        #expect(watch.note(renewal(.storageFull)) && told.value.count == 2)
        #expect(watch.end == nil)
        #expect(watch.note(renewal(.readOnly)))
        #expect(watch.end?.status == .machine)
        await vault.close()
    }
}
