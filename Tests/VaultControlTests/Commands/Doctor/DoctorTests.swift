import DevAuthorizationServer
import EngineSupport
import Foundation
import TestSupport
import Testing
import TokenVault
import VaultCrypto

@testable import VaultAdministration
@testable import VaultControl

/// `vaultctl doctor`
@Suite(.tags(.everyEngine))
struct DoctorTests {
    private typealias Finding = [String: Any]

    private static func findings(_ result: RunResult, _ check: String? = nil) throws -> [Finding] {
        let findings = try #require(try result.json["findings"] as? [Finding], "\(result.error)")
        return findings.filter { check == nil || $0["check"] as? String == check }
    }

    private static func levels(_ result: RunResult, _ check: String) throws -> [String] {
        try findings(result, check).compactMap { $0["level"] as? String }
    }

    /// With a recovery key, as doctor wants it.
    private static func filled() async throws -> Harness {
        let harness = try await BadInputTests.filled()
        try await harness.run("key", "add", "--recipient", KeySourceTests.recipient)
        return harness
    }

    @Test(.aboutFiles("no byte of the files changes; ServerVaultTests has what is checked of a server"))
    func aHealthyVaultIsToldAsSuchAndLeftAsItIs() async throws {
        let harness = try await Self.filled()
        let before = try Data(contentsOf: URL(filePath: harness.vault))
        let log = try Data(contentsOf: URL(filePath: harness.vault + "-wal"))
        let result = try await harness.run("doctor", "--json")
        #expect(result.status == 0, "\(result.output)")
        #expect(try result.json["isHealthy"] as? Bool == true)
        let checks = Set(try Self.findings(result).compactMap { $0["check"] as? String })
        // A file has no server.
        #expect(checks == Set(DoctorFinding.Check.allCases.map(\.rawValue)).subtracting(["server"]))
        #expect(try Self.levels(result, "vault") == ["ok"])
        #expect(try Self.levels(result, "file") == Array(repeating: "ok", count: 7))
        #expect(try Self.levels(result, "keyFile") == ["ok", "note"])
        let clock = try #require(try Self.findings(result, "clock").first)
        #expect(clock["wasLookedAt"] as? Bool == false)
        #expect(clock["level"] as? String == "note")
        #expect(try Data(contentsOf: URL(filePath: harness.vault)) == before)
        #expect(try Data(contentsOf: URL(filePath: harness.vault + "-wal")) == log)
        let lines = try await harness.run("doctor")
        #expect(lines.output.split(separator: "\n").allSatisfy { $0.filter { $0 == "\t" }.count == 4 })
        #expect(lines.output.contains("ok\tvault\t\(harness.vault)\topens\t\n"))
    }

    /// The process that holds the lock is named: here by its writer and by `doctor`.
    @Test(.aboutFiles("the lock is SQLite's"))
    func aProcessThatKeepsTheWriteLockIsNamed() async throws {
        let harness = try await Self.filled()
        let script = """
            mkfifo "$dir/go"
            python3 -c "import sqlite3, sys
            c = sqlite3.connect(sys.argv[1], isolation_level=None)
            c.execute('BEGIN IMMEDIATE')
            print('held', flush=True)
            sys.stdin.read()" "$dir/app.vault" <"$dir/go" >"$dir/held" &
            exec 9>"$dir/go"
            until [ -s "$dir/held" ]; do sleep 0.05; done
            "$vaultctl" doctor >"$dir/report"; echo "$?"
            grep "^problem.writing.*process $! has held its write lock.*ps -fp $!" "$dir/report" | wc -l
            exec 9>&-
            wait
            "$vaultctl" doctor | grep -c "^ok.writing"
            """
        let result = try await Program(harness: harness).shell(script)
        #expect(result.output == "3\n1\n1\n", "\(result.output) \(result.error)")
    }

    @Test(.aboutFiles("it is about SQLite"))
    func sqliteIsNamedWithItsBugAndTheGate() async throws {
        let harness = try await Self.filled()
        let result = try await harness.run("doctor", "--json")
        let finding = try #require(try Self.findings(result, "sqlite").first)
        #expect(finding["subject"] as? String == Vault.sqliteVersion)
        #expect(finding["level"] as? String == (Vault.isSQLiteAffectedByWALReset ? "note" : "ok"))
        if Vault.isSQLiteAffectedByWALReset {
            #expect((finding["text"] as? String)?.contains("WAL-reset bug") == true)
            #expect((finding["text"] as? String)?.contains("gate") == true)
        }
    }

    @Test(
        .aboutFiles("the modes of the vault's files"),
        arguments: [
            ("app.vault", 0o644, "file", "chmod 600"), ("app.vault-wal", 0o666, "file", "chmod 600"),
            ("app.vault-shm", 0o640, "file", "chmod 600"), ("app.vault.lock", 0o604, "file", "chmod 600"),
            ("", 0o777, "file", "chmod go-w"), ("app.key", 0o640, "keyFile", "chmod 600"),
        ])
    func filesThatOthersCanReachAreAProblem(
        _ name: String, _ mode: Int, _ check: String, _ hint: String
    ) async throws {
        let harness = try await Self.filled()
        let path = name.isEmpty ? harness.directory : harness.path(name)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        let result = try await harness.run("doctor", "--json")
        #expect(result.status == 3, "\(result.output)")
        let problem = try #require(
            try Self.findings(result, check).first { $0["level"] as? String == "problem" }, "\(result.output)")
        #expect((problem["hint"] as? String)?.contains(hint) == true, "\(problem)")
        #expect((problem["text"] as? String)?.contains("mode \(String(mode, radix: 8))") == true, "\(problem)")
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: harness.directory)
    }

    @Test(.aboutFiles("the spool lies beside the file"))
    func aSpoolThatOthersCanReachIsAProblem() async throws {
        let harness = try await Self.filled()
        try FileManager.default.createDirectory(
            atPath: harness.vault + ".spool", withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755]
        )
        let result = try await harness.run("doctor", "--json")
        #expect(result.status == 3)
        #expect(try Self.levels(result, "file").contains("problem"), "\(result.output)")
        #expect(try Self.findings(result).contains { ($0["hint"] as? String)?.contains("chmod 700") == true })
    }

    @Test func aLockedVaultIsLookedAtFromOutside() async throws {
        let harness = try await Self.filled()
        let other = try await Self.filled()
        let cases: [([String: String], String, String)] = [
            (["TOKENVAULT_VAULT": harness.vault], "warning", "no key specified"),
            (["TOKENVAULT_VAULT": harness.vault, "TOKENVAULT_KEY_FILE": other.key], "problem", "cannot be opened"),
            (["TOKENVAULT_VAULT": harness.vault, "TOKENVAULT_KEY_FILE": "/no/such"], "problem", "cannot be opened"),
        ]
        for (environment, level, words) in cases {
            let result = try await harness.run("doctor", "--json", environment: environment)
            #expect(result.status == 3)
            let opening = try Self.findings(result, "vault")
            #expect(opening.first?["level"] as? String == level, "\(result.output)")
            #expect((opening.first?["text"] as? String)?.contains(words) == true, "\(result.output)")
            #expect((opening.last?["text"] as? String)?.contains("is a vault with schema version") == true)
            #expect(try Self.levels(result, "file").count == (TestEngine.isServer ? 0 : 7))
            #expect(try Self.findings(result, "sqlite").count == (TestEngine.isServer ? 0 : 1))
            let unseen = try Self.findings(result).filter { $0["wasLookedAt"] as? Bool == false }
            #expect(unseen.count == 17)
        }
    }

    @Test func aDamagedVaultIsLookedAtAsFarAsItGoes() async throws {
        let harness = try await Self.filled()
        let text = try harness.file("text.vault", "not a database at all, only some text in a file")
        let noVault = try await harness.run("doctor", "--vault", text, "--json")
        #expect(noVault.status == 3)
        #expect(try Self.levels(noVault, "vault").contains("problem"))
        #expect(try Self.levels(noVault, "sqlite").count == 1)

        let intruder = try TableIntruder(harness.vault)
        try intruder.execute(#"UPDATE login SET "dueAt" = coalesce("dueAt", 0) + 1"#)
        let edited = try await harness.run("doctor", "--json")
        #expect(edited.status == 3)
        #expect(try Self.levels(edited, "vault") == ["ok"])
        let login = try #require(try Self.findings(edited, "login").first)
        #expect(login["level"] as? String == "problem")
        #expect((login["hint"] as? String)?.contains("vaultctl damage list") == true)
        try intruder.execute("DROP TABLE outbox")
        let broken = try await harness.run("doctor", "--json")
        #expect(broken.status == 3)
        #expect(try Self.findings(broken).contains { $0["level"] as? String == "problem" })

        let missing = try await harness.run("doctor", "--vault", harness.path("none"))
        #expect(missing.status == 2)
        #expect(missing.error.contains("there is no vault at"))
    }

    @Test func aNewerVaultIsToldAsSuch() async throws {
        let harness = try await Self.filled()
        try TableIntruder(harness.vault).setSchemaVersion(4242)
        let result = try await harness.run("doctor")
        #expect(result.status == 3)
        #expect(result.output.contains("schema version 4242"))
    }

    /// What `doctor` ends with where all is well: a server without a synchronous standby is a warning.
    static let statusOfHealth = TestEngine.isServer ? ExitStatus.partlyDone : .success

    @Test func deadLoginsAndRevocationsThatWaitAreCounted() async throws {
        try await World.with { world in
            let dead = try await world.logIn("alice")
            _ = try await world.logIn("bob")
            let ended = try await world.logIn("carol")
            world.server.revokeGrant(user: "alice")
            try await world.fails(.loginDead, "login", "refresh", dead)
            world.server.faults.add(.status(503).for(path: "/revoke").times(1))
            #expect(try await world.harness.run("login", "revoke", ended, "--yes").status == 3)
            try await world.ok("key", "add", "--recipient", KeySourceTests.recipient)
            let result = try await world.harness.run("doctor", "--json")
            #expect(result.status == Self.statusOfHealth.rawValue, "\(result.error)")
            let login = try #require(try Self.findings(result, "login").first)
            #expect(login["level"] as? String == "note")
            #expect((login["text"] as? String)?.hasPrefix("1 of 2 logins dead") == true, "\(login)")
            let outbox = try #require(try Self.findings(result, "outbox").first)
            #expect(outbox["level"] as? String == "note")
            #expect((outbox["text"] as? String)?.hasPrefix("1 revocation not confirmed") == true, "\(outbox)")
        }
    }

    @Test(arguments: [1, 2, 3, 4])
    func everyPageOfLoginsIsCounted(_ pageSize: Int) async throws {
        let harness = try await Self.filled()
        let token = try harness.file("token", Harness.marker + "token")
        for user in ["bob", "carol"] {
            try await harness.run("login", "add", "--user", user, "--access-token-file", token, "--expires-in", "1h")
        }
        let vault = try await Vault.open(in: harness.location(), unlockedBy: .keyFile(harness.key))
        let survey = try await vault.survey(provider: nil, pageSize: pageSize) { _, _ in }
        #expect(survey.logins == 3)
        await vault.close()
    }

    @Test func providersAreAskedForTheTimeOnlyOnline() async throws {
        try await World.with { world in
            try await world.ok("key", "add", "--recipient", KeySourceTests.recipient)
            let before = world.server.log.records.count
            #expect(try await world.harness.run("doctor").status == Self.statusOfHealth.rawValue)
            #expect(world.server.log.records.count == before)
            let online = try await world.harness.run("doctor", "--online", "--json")
            #expect(online.status == Self.statusOfHealth.rawValue, "\(online.error)")
            #expect(world.server.log.records.count > before)
            #expect(world.server.log.tokenRequests().isEmpty)
            let clock = try #require(try Self.findings(online, "clock").first)
            #expect(clock["subject"] as? String == "acme")
            #expect(clock["level"] as? String == "ok", "\(clock)")
            world.server.skewClock(by: .seconds(-40))
            let skewed = try await world.harness.run("doctor", "--online", "--json")
            #expect(skewed.status == 3)
            #expect(try Self.levels(skewed, "clock") == ["warning"])
            let words = try #require(try Self.findings(skewed, "clock").first?["text"] as? String)
            #expect(words.contains("s behind this machine's"))
            world.server.skewClock(by: .zero)
            try await world.ok(
                "provider", "add", "gone", "--client-id", "c", "--token-endpoint", "https://127.0.0.1:1/token")
            let partly = try await world.harness.run("doctor", "--online", "--json")
            #expect(partly.status == 3)
            #expect(try Self.levels(partly, "clock") == ["ok", "warning"])
            #expect(try Self.findings(partly, "clock").last?["wasLookedAt"] as? Bool == false)
        }
    }

    @Test(arguments: [
        (0, DoctorFinding.Level.ok), (4, .ok), (-5, .warning), (59, .warning), (60, .problem), (-86_000, .problem),
    ])
    func aClockThatIsOffIsJudgedByHowMuch(_ seconds: Int, _ level: DoctorFinding.Level) {
        let finding = ClockCheckup.finding(.seconds(seconds), "acme")
        #expect(finding.level == level)
        #expect(finding.level == .ok || finding.text.contains(seconds > 0 ? "s ahead of" : "s behind"))
    }

    @Test(arguments: [
        (0, 0, 0, String?.none, [DoctorFinding.Level.ok]), (1, 0, 0, nil, [.warning]), (0, 1, 0, nil, [.warning]),
        (2, 1, 3, nil, [.warning, .warning, .problem]), (0, 0, 0, "it cannot be read", [.problem]),
    ])
    func whatLiesInTheSpoolIsNamed(
        _ entries: Int, _ torn: Int, _ damaged: Int, _ problem: String?, _ levels: [DoctorFinding.Level]
    ) {
        let findings = VaultCheckup.spool(
            .init(entries: entries, tornEntries: torn, damagedEntries: damaged, problem: problem))
        #expect(findings.map(\.level) == levels)
        #expect(findings.allSatisfy { $0.level == .ok || $0.hint != nil })
    }

    @Test(.aboutFiles("the spool lies beside the file"))
    func aForeignFileInTheSpoolIsNotOverlooked() async throws {
        let harness = try await Self.filled()
        let spool = harness.vault + ".spool"
        try FileManager.default.createDirectory(
            atPath: spool, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try harness.file("app.vault.spool/4711.spool", String(repeating: "x", count: 65_536))
        let result = try await harness.run("doctor", "--json")
        #expect(result.status == 3, "\(result.output)")
        #expect(try Self.levels(result, "spool") != ["ok"])
    }

    @Test func unlockedMemoryIsAWarning() {
        #expect(VaultCheckup.memory(.full).map(\.level) == [.ok])
        #expect(VaultCheckup.memory(.partial).map(\.level) == [.warning])
        #expect(VaultCheckup.memory(.none).map(\.level) == [.warning])
        #expect(VaultCheckup.memory(.none).allSatisfy { $0.hint?.contains("ulimit -l") == true })
    }

    @Test(.aboutFiles("a server without a standby is a warning"))
    func onATerminalThereAreHintsAndASum() async throws {
        let harness = try await Self.filled()
        let terminal = try PseudoTerminal(
            ["doctor"], environment: harness.environment.merging(["TERM": "dumb"]) { $1 })
        #expect(try await terminal.exitCode() == 0, "\(terminal.screen)")
        #expect(terminal.screen.contains("note     key file"))
        #expect(terminal.screen.contains("hint: keep it in another directory"))
        #expect(terminal.screen.contains("0 problems, 0 warnings, "))
        #expect(terminal.screen.contains("1 not checked"))
    }
}
