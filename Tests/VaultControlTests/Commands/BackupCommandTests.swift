import EngineSupport
import Foundation
import Testing
import VaultControl

@Suite(.tags(.everyEngine), .aboutFiles("a vault on a server is backed up with its database"))
struct BackupCommandTests {
    private static func directory(_ world: World) throws -> String {
        let path = world.harness.path("backups")
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        return path
    }

    private static func backUp(_ world: World, _ directory: String) async throws -> String {
        let result = try await world.ok("backup", "create", directory, "--same-device", "--json")
        return try #require(try result.json["path"] as? String)
    }

    @Test func aBackupIsMadeListedAndVerified() async throws {
        try await World.with { world in
            try await world.logIn("alice")
            let directory = try Self.directory(world)
            let refused = try await world.fails(.machine, "backup", "create", directory)
            #expect(refused.error.contains("--same-device"))
            let plan = try await world.ok("backup", "create", directory, "--same-device", "--dry-run", "--json").json
            #expect(plan["isDryRun"] as? Bool == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
            #expect(try await world.ok("status", "--brief").output.contains("last backup\tnone"))
            let path = try await Self.backUp(world, directory)
            let list = try await world.ok("backup", "list", "--json").json["backups"] as? [[String: Any]]
            #expect(list?.count == 1 && list?.first?["state"] as? String == "here")
            #expect(try await !world.ok("status", "--brief").output.contains("last backup\tnone"))
            let whole = try await world.ok("backup", "verify", path, "--json").json
            #expect(whole["isClean"] as? Bool == true && whole["checked"] as? String == "cells")
            let bytes = try await world.harness.run("backup", "verify", path, "--json", environment: [:]).json
            #expect(bytes["checked"] as? String == "bytes" && bytes["logins"] as? Int == 1)
            let drill = try await world.ok("backup", "verify", path, "--drill", "--json").json
            #expect(drill["drillIsClean"] as? Bool == true)
            // The drill leaves nothing behind.
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory).count == 1)
            let asVault = try await world.fails(.usage, "status", "--vault", path)
            #expect(asVault.error.contains("backup restore"))
        }
    }

    @Test func aDamagedBackupIsTold() async throws {
        try await World.with { world in
            let path = try await Self.backUp(world, try Self.directory(world))
            let handle = try FileHandle(forUpdating: URL(filePath: path))
            try handle.seek(toOffset: 9_000)
            try handle.write(contentsOf: Data([0xAA]))
            try handle.close()
            let verified = try await world.fails(.damaged, "backup", "verify", path)
            #expect(verified.error.contains("the backup is damaged"))
            try await world.fails(.damaged, "backup", "restore", path, world.harness.path("new.vault"))
            #expect(!FileManager.default.fileExists(atPath: world.harness.path("new.vault")))
            try await world.fails(.usage, "backup", "verify", world.harness.key)
            try await world.fails(.notFound, "backup", "verify", world.harness.path("nothing"))
        }
    }

    @Test func aBackupIsForgottenOnceItsFileIsGone() async throws {
        try await World.with { world in
            let path = try await Self.backUp(world, try Self.directory(world))
            let listed = try await world.ok("backup", "list").line.split(separator: "\t").map(String.init)
            let id = try #require(listed.first)
            try await world.fails(.usage, "backup", "forget", id, "--yes")
            try FileManager.default.removeItem(atPath: path)
            #expect(try await world.ok("backup", "list").output.contains("\tmoved\t"))
            try await world.fails(.notFound, "backup", "forget", "nonsense", "--yes")
            try await world.ok("backup", "forget", id, "--yes")
            try await world.fails(.notFound, "backup", "forget", id, "--yes")
            #expect(try await world.ok("backup", "list").output.isEmpty)
        }
    }

    // MARK: Restoring, with every request counted at the server

    /// Backups of several ages: no refresh request before the restore is accepted, whatever is asked of the logins.
    @Test(arguments: [1, 10]) func noRefreshTokenIsSentBeforeTheRestoreIsAccepted(_ age: Int) async throws {
        try await World.with { world in
            let alice = try await world.logIn("alice")
            try await world.logIn("bob")
            let path = try await Self.backUp(world, try Self.directory(world))
            for _ in 0..<age { try await world.ok("login", "refresh", alice) }
            try await world.ok("user", "erase", "bob", "--yes")
            let sent = world.refreshes
            let restored = world.harness.path("restored.vault")
            let report = try await world.ok("backup", "restore", path, restored, "--json").json
            let providers = try #require(report["providers"] as? [[String: Any]])
            #expect(providers.first?["held"] as? Int == 2 && report["incarnation"] as? Int == 2)
            // The access token is served while it lasts; a renewal is refused as held.
            try await world.ok("token", "get", "--user", "alice", "--reveal", "--vault", restored)
            let held = try await world.fails(.rollback, "login", "refresh", alice, "--vault", restored)
            #expect(held.error.contains("restore status") && held.error.contains("login begin --into \(alice)"))
            try await world.ok("maintain", "--once", "--vault", restored)
            try await world.ok("verify", "--vault", restored)
            let plan = try await world.ok(
                "restore", "accept", "--provider", "acme", "--dry-run", "--vault", restored)
            #expect(plan.error.contains("without --probe or --risk none is accepted"))
            // A user who was erased since is back.
            try await world.ok("user", "show", "bob", "--vault", restored)
            #expect(world.refreshes == sent)
            // What an old refresh token may do is not risked by mistake.
            let refused = try await world.fails(.usage, "restore", "accept", "--provider", "acme", "--vault", restored)
            #expect(refused.error.contains("--probe"))
            #expect(world.refreshes == sent)
            let probe = try await world.harness.run(
                "restore", "accept", "--provider", "acme", "--probe", "2", "--json", "--vault", restored)
            #expect(world.refreshes == sent + 2)
            let probes = try #require(try probe.json["probes"] as? [[String: Any]])
            // Alice's token was spent: the server sees it again. Bob's grant was revoked when he was erased.
            #expect(probe.status == VaultControl.ExitStatus.partlyDone.rawValue && probes.count == 2)
            #expect(probes.contains { $0["login"] as? String == alice && $0["isRenewed"] as? Bool == false })
            #expect(try probe.json["stillHeld"] as? Int == 0)
        }
    }

    /// The grants are the original's as well, and a revocation is sent although refresh tokens are not.
    @Test func endingAHeldLoginWarnsOfTheOriginal() async throws {
        try await World.with { world in
            let alice = try await world.logIn("alice")
            for user in ["bob", "carol", "dave"] { try await world.logIn(user) }
            let path = try await Self.backUp(world, try Self.directory(world))
            let restored = world.harness.path("restored.vault")
            try await world.ok("backup", "restore", path, restored)
            let doctor = try await world.harness.run("doctor", "--vault", restored)
            #expect((doctor.output + doctor.error).contains("no refresh token is sent for them"))
            let warning = "also for the original vault"
            for command in [
                ["login", "end", "--user", "dave", "--dry-run"],
                ["login", "end", "--user", "dave", "--by", "remove", "--yes"],
            ] {
                #expect(try await !world.ok(command + ["--vault", restored]).error.contains(warning), "\(command)")
            }
            for command in [
                ["login", "end", "--user", "carol"], ["user", "disable", "carol"], ["user", "erase", "bob"],
                ["login", "revoke", alice],
            ] {
                let done = try await world.ok(command + ["--yes", "--vault", restored])
                #expect(done.error.contains(warning), "\(command)")
            }
            // The original vault has no logins that are held.
            #expect(try await !world.ok("user", "erase", "alice", "--yes").error.contains(warning))
        }
    }

    @Test func aBackupOfAnUnchangedVaultGoesOn() async throws {
        try await World.with { world in
            let alice = try await world.logIn("alice")
            let path = try await Self.backUp(world, try Self.directory(world))
            let restored = world.harness.path("restored.vault")
            try await world.ok("backup", "restore", path, restored)
            try await world.ok("restore", "accept", "--provider", "acme", "--probe", "1", "--vault", restored)
            try await world.ok("login", "refresh", alice, "--vault", restored)
            #expect(try await world.ok("restore", "status", "--vault", restored).error.contains("no login is held"))
            try await world.ok("verify", "--vault", restored)
        }
    }

    /// With a witness log, the login that was renewed since is held, and no other; every refresh request is counted.
    @Test func aWitnessLogLetsLoginsGoOnThatDidNotMove() async throws {
        try await World.with { world in
            let alice = try await world.logIn("alice")
            let bob = try await world.logIn("bob")
            let (note, log) = (world.harness.path("note"), world.harness.path("intents"))
            let witness = ["--witness", note, "--witness-log", log]
            let directory = try Self.directory(world)
            try await world.ok(["witness", "begin"] + witness)
            let made = try await world.ok(["backup", "create", directory, "--same-device", "--json"] + witness)
            let path = try #require(try made.json["path"] as? String)
            let plan = ["backup", "create", directory, "--same-device", "--dry-run"]
            try await world.ok(plan + witness)
            try await world.ok(["login", "refresh", alice] + witness)
            let seen = try String(contentsOfFile: note, encoding: .utf8)
            // A copy that is looked at takes nothing's place.
            try await world.ok(["backup", "verify", path, "--drill"] + witness)
            #expect(try String(contentsOfFile: note, encoding: .utf8) == seen)
            let sent = world.refreshes
            let restored = world.harness.path("restored.vault")
            let told = try await world.ok(
                ["backup", "restore", path, restored, "--evidence", log, "--json"] + witness)
            #expect(told.error.contains("erase or disable them again"), "\(told.error)")
            let report = try told.json
            #expect(report["evidence"] as? String == "witnessLog" && report["movedLogins"] as? Int == 1)
            #expect(report["doubt"] is NSNull && (report["lostRows"] as? Int ?? 0) > 0)
            let providers = try #require(report["providers"] as? [[String: Any]])
            #expect(providers.first?["held"] as? Int == 1 && providers.first?["logins"] as? Int == 2)
            #expect(try String(contentsOfFile: note, encoding: .utf8) == seen)
            // The witness has seen the vault that was lost.
            let asOther = witness + ["--vault", restored]
            let refused = try await world.fails(.rollback, ["status"] + asOther)
            #expect(refused.error.contains("restored from a backup") && refused.error.contains("witness accept"))
            let accepted = try await world.ok(["witness", "accept", "--yes", "--json"] + asOther).json
            #expect(accepted["holdsAllLogins"] as? Bool == false)
            try await world.fails(.rollback, ["login", "refresh", alice] + asOther)
            #expect(world.refreshes == sent)
            try await world.ok(["login", "refresh", bob] + asOther)
            #expect(world.refreshes == sent + 1)
            // The vault that was lost, should it come back.
            try await world.fails(.rollback, ["status"] + witness)
        }
    }

    @Test func aDirectoryOfAllUsersStaysAsItIs() async throws {
        try await World.with { world in
            let path = world.harness.path("everybodys")
            #expect(unsafe mkdir(path, 0o700) == 0)
            #expect(unsafe chmod(path, 0o1777) == 0)
            let refused = try await world.fails(.machine, "backup", "create", path, "--same-device")
            #expect(refused.error.contains("mkdir -m 700") && !refused.error.contains("chmod"), "\(refused.error)")
        }
    }

    /// A command in an operator's shell, without the log: an export of the trail knows of it.
    @Test func aLogThatLacksARenewalIsNotBelieved() async throws {
        try await World.with { world in
            let alice = try await world.logIn("alice")
            let bob = try await world.logIn("bob")
            let log = world.harness.path("intents")
            let witness = ["--witness", world.harness.path("note"), "--witness-log", log]
            try await world.ok(["witness", "begin"] + witness)
            // The log begins before the backup.
            try await world.ok(["status"] + witness)
            let path = try await Self.backUp(world, try Self.directory(world))
            try await world.ok(["login", "refresh", alice] + witness)
            try await world.ok("login", "refresh", bob)
            let export = world.harness.path("audit.jsonl")
            try await world.ok("audit", "export", "--jsonl").output.write(
                toFile: export, atomically: false, encoding: .utf8)
            let restored = world.harness.path("restored.vault")
            let report = try await world.ok(
                "backup", "restore", path, restored, "--evidence", log, "--evidence", export, "--json"
            ).json
            #expect(report["evidence"] as? String == "witnessLog" && report["movedLogins"] as? Int == 2)
            #expect((report["doubt"] as? String)?.contains("lack") == true, "\(report)")
            let providers = try #require(report["providers"] as? [[String: Any]])
            #expect(providers.first?["held"] as? Int == 2)
        }
    }

    /// What an export knows is shown, and lets no login go on: it may have ended before the vault did.
    @Test func anExportOfTheTrailIsShownAsEvidence() async throws {
        try await World.with { world in
            let alice = try await world.logIn("alice")
            try await world.logIn("bob")
            let path = try await Self.backUp(world, try Self.directory(world))
            try await world.ok("login", "refresh", alice)
            let export = world.harness.path("audit.jsonl")
            try await world.ok("audit", "export", "--jsonl").output.write(
                toFile: export, atomically: false, encoding: .utf8)
            let restored = world.harness.path("restored.vault")
            let report = try await world.ok("backup", "restore", path, restored, "--evidence", export, "--json").json
            #expect(report["evidence"] as? String == "auditExport" && report["movedLogins"] as? Int == 1)
            #expect(report["doubt"] as? String != nil && (report["lostRows"] as? Int ?? 0) > 1)
            let providers = try #require(report["providers"] as? [[String: Any]])
            #expect(providers.first?["held"] as? Int == 2)
            let other = world.harness.path("other.vault")
            try await world.fails(.notFound, "backup", "restore", path, other, "--evidence", "/nowhere")
            try "{}\n[1]\n".write(toFile: export, atomically: false, encoding: .utf8)
            try await world.fails(.usage, "backup", "restore", path, other, "--evidence", export)
            #expect(!FileManager.default.fileExists(atPath: other))
        }
    }

    /// The vault's key does not open a backup for a recipient; what is erased and whose identity is destroyed is gone.
    @Test func aBackupForARecipientIsOpenedByItsIdentityAlone() async throws {
        try await World.with { world in
            let alice = try await world.logIn("alice")
            let directory = try Self.directory(world)
            let recipient = "age1cl4fuwcm4fqrpfy5zu4zkzl36w8g3lmnwmm0qvnfjjgdjn6yqdqqqqqqqq"
            let refused = try await world.fails(
                .usage, "backup", "create", directory, "--same-device", "--for", recipient)
            #expect(refused.error.contains("recipient"))
            let identity = try world.harness.file("identity", KeySourceTests.identity + "\n")
            let made = try await world.ok(
                "backup", "create", directory, "--same-device", "--for", KeySourceTests.recipient, "--json"
            ).json
            #expect(made["recipients"] as? [String] == [KeySourceTests.recipient])
            let path = try #require(made["path"] as? String)
            try await world.fails(.key, "backup", "verify", path)
            // The identity does not open the vault, in which the list is.
            let listed = try await world.fails(.key, "backup", "verify", "latest")
            #expect(listed.error.contains("--identity PATH, and the backup by its path"), "\(listed.error)")
            let named = try await world.harness.run(
                ["backup", "verify", "latest", "--vault", world.harness.vault, "--identity", identity], environment: [:]
            )
            #expect(
                named.status == 7 && named.error.contains("hint: latest is looked up in the vault"), "\(named.error)")
            let restored = world.harness.path("restored.vault")
            try await world.fails(.key, "backup", "restore", path, restored)
            let byIdentity = ["--identity", identity]
            let verified = try await world.harness.run(
                ["backup", "verify", path, "--drill", "--json"] + byIdentity, environment: [:])
            #expect(try verified.json["drillIsClean"] as? Bool == true, "\(verified.error)")
            let result = try await world.harness.run(
                ["backup", "restore", path, restored] + byIdentity, environment: [:])
            #expect(result.status == 0, "\(result.error)")
            let token = try await world.harness.run(
                ["login", "show", alice, "--vault", restored] + byIdentity, environment: [:])
            #expect(token.status == 0, "\(token.error)")
        }
    }

    @Test func wrongCommandLinesAreToldApart() async throws {
        try await World.with { world in
            let path = try await Self.backUp(world, try Self.directory(world))
            try await world.fails(.usage, "restore", "accept")
            try await world.fails(.usage, "restore", "accept", "--provider", "acme", "--app")
            try await world.fails(.usage, "restore", "accept", "--provider", "acme", "--probe", "0")
            try await world.fails(.usage, "restore", "accept", "--app", "--probe", "1")
            try await world.fails(.notFound, "restore", "accept", "--provider", "other")
            try await world.fails(.usage, "backup", "verify", path, "--scratch", "/tmp")
            try await world.fails(.usage, "backup", "restore", path, world.harness.vault)
            try await world.fails(.usage, "backup", "create", path, "--same-device")
            try await world.fails(.machine, "backup", "create", "/nowhere/there", "--same-device")
            try await world.fails(.usage, "maintain", "--once", "--backup-every", "1h")
            try await world.fails(.usage, "maintain", "--once", "--backup-dir", "/tmp", "--keep", "7x")
        }
    }

    // MARK: Schedule and erasure

    @Test func maintainMakesBackupsWhenTheyAreDue() async throws {
        try await World.with { world in
            let directory = try Self.directory(world)
            let options = [
                "maintain", "--once", "--backup-every", "6h", "--backup-dir", directory, "--same-device", "--keep",
                "1d",
            ]
            let first = try await world.ok(options)
            #expect(first.error.contains("made backup"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory).count == 1)
            let second = try await world.ok(options)
            #expect(!second.error.contains("made backup"))
            try FileManager.default.removeItem(atPath: directory)
            let doctor = try await world.harness.run("doctor")
            #expect(doctor.output.contains("backup"))
        }
    }

    @Test func erasingAUserNamesTheBackupsThatHoldThem() async throws {
        try await World.with { world in
            let directory = try Self.directory(world)
            let before = try await Self.backUp(world, directory)
            try await world.logIn("alice")
            let path = try await Self.backUp(world, directory)
            let plan = try await world.ok("user", "erase", "alice", "--dry-run", "--json").json
            let backups = try #require(plan["backups"] as? [[String: Any]])
            #expect(backups.compactMap { $0["path"] as? String } == [path] && before != path)
            try await world.ok("user", "show", "alice")
            let erased = try await world.ok("user", "erase", "alice", "--yes")
            #expect(erased.error.contains(path))
            try await world.fails(.notFound, "user", "erase", "alice", "--dry-run")
        }
    }
}
