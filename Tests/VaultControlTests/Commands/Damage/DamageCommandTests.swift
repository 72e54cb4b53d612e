import DevAuthorizationServer
import EngineSupport
import Foundation
import TestSupport
import Testing
import VaultAdministration
import VaultControl

/// `vaultctl damage`, and what the other commands do beside a damaged row.
@Suite(.tags(.everyEngine))
struct DamageCommandTests {
    private func withDamaged(
        _ table: String, _ column: String = "cell", _ body: (World, _ login: String, _ row: String) async throws -> Void
    ) async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            try await world.logIn("bob")
            try Self.damage(world, table, column)
            let rows = try await world.ok("damage", "list", "--json").json["damage"] as? [[String: Any]]
            let row = try #require(rows?.first { $0["table"] as? String == table }?["row"] as? String)
            try await body(world, login, row)
        }
    }

    /// Changes the end of a sealed cell in the first row of a table.
    private static func damage(_ world: World, _ table: String, _ column: String = "cell") throws {
        let intruder = try TableIntruder(world.harness.vault)
        let row = try #require(try intruder.text(#"SELECT min(id) FROM "\#(table)""#).flatMap { Int64($0) })
        try intruder.flip(table, column, row: row, atEnd: true)
    }

    @Test func aDamagedLoginIsListedShownExportedAndDiscarded() async throws {
        try await withDamaged("login") { world, login, row in
            #expect(row == login)
            let shown = try await world.ok("damage", "show", row, "--json").json
            #expect(shown["user"] as? String == "alice" && shown["provider"] as? String == "acme")
            #expect((shown["loses"] as? String)?.contains("grant stays valid") == true)
            #expect(try await world.ok("damage", "show", row).output.contains("login.generation\t1"))

            let file = world.harness.path("row.json")
            let exported = try await world.ok("damage", "export", row, "--output", file, "--json").json
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let document = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: file)))
            let copy = try #require(document as? [String: Any])
            #expect(copy["format"] as? String == "tokenvault-damaged-row-1")
            #expect(copy["hash"] as? String == exported["hash"] as? String)
            let tables = (copy["rows"] as? [[String: Any]])?.compactMap { $0["table"] as? String }
            #expect(tables == ["login", "loginSecret"])
            #expect(try await world.fails(.usage, "damage", "export", row, "--output", file).error.contains("already"))
            let piped = try await world.ok("damage", "export", row, "--output", "-")
            #expect(piped.output == String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self))

            try await world.fails(.usage, "damage", "discard", row)
            try await world.fails(.usage, "damage", "discard", row, "--confirm", String(row.reversed()))
            #expect(try await world.harness.run("verify").status == ExitStatus.damaged.rawValue)
            let discarded = try await world.ok("damage", "discard", row, "--confirm", row, "--json").json
            #expect(discarded["logins"] as? [String] == [login])
            #expect(discarded["hash"] as? String == copy["hash"] as? String)
            try await world.ok("verify")
            try await world.fails(.notFound, "damage", "show", row)
            #expect(try await world.ok("damage", "list").output.isEmpty)
            try await world.logIn("alice")
            try await world.ok("token", "get", "--user", "alice")
        }
    }

    @Test func loginsOfADamagedProviderAreNotTheApps() async throws {
        try await withDamaged("provider") { world, login, row in
            let name = "damaged:\(row)"
            #expect(try await world.ok("login", "show", login, "--json").json["provider"] as? String == name)
            #expect(try await world.ok("login", "list").output.contains("\t\(name)\t"))
            let states = try await world.ok("status", "--json").json["states"] as? [[String: Any]]
            #expect(states?.map { $0["provider"] as? String } == [name])
            let doctor = try await world.harness.run("doctor", "--json")
            let findings = try #require(try doctor.json["findings"] as? [[String: Any]])
            let found = findings.filter { $0["check"] as? String == "provider" }
            #expect(doctor.status == ExitStatus.partlyDone.rawValue && found.count == 1)
            #expect(found.first?["subject"] as? String == name && found.first?["level"] as? String == "problem")
            #expect((found.first?["hint"] as? String)?.hasSuffix("vaultctl damage list") == true)
        }
    }

    @Test func theRowMustBeTypedOnATerminal() async throws {
        try await withDamaged("login") { world, _, row in
            let refusing = try PseudoTerminal(["damage", "discard", row], environment: world.harness.environment)
            try await refusing.wait(for: "to discard it: ")
            refusing.type("yes\n")
            #expect(try await refusing.exitCode() == 1)
            #expect(refusing.screen.contains("nothing was changed"))
            let terminal = try PseudoTerminal(["damage", "discard", row], environment: world.harness.environment)
            try await terminal.wait(for: "to discard it: ")
            terminal.type("\(row)\n")
            #expect(try await terminal.exitCode() == 0, "\(terminal.screen)")
            try await world.ok("verify")
        }
    }

    @Test func whatOpensIsNotDiscarded() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            try await world.fails(.usage, "damage", "discard", login, "--confirm", login)
            try await world.fails(.usage, "damage", "show", "login#1")
            try await world.fails(.notFound, "damage", "show", "outbox#1")
            try await world.fails(.usage, "damage", "show", "no row")
            try await world.ok("token", "get", login)
        }
    }

    @Test func aDamagedLoginIsEndedOnDemand() async throws {
        try await withDamaged("login") { world, login, _ in
            for verb in ["remove", "revoke"] {
                let refused = try await world.fails(.damaged, "login", verb, login, "--yes")
                #expect(
                    refused.error.contains("cannot be revoked") && refused.error.contains("vaultctl damage discard"))
            }
            try await world.logIn("alice")
            // It does not hide the healthy one.
            try await world.ok("token", "get", "--user", "alice")
            try await world.ok("login", "show", "--user", "alice")
            let ended = try await world.harness.run(
                "login", "revoke", login, "--discard-damaged", "--yes", "--json")
            #expect(ended.status == 3)
            let outcomes = try ended.json["revocations"] as? [[String: Any]]
            #expect(outcomes?.map { $0["outcome"] as? String } == ["unreadable"])
            try await world.ok("verify")
        }
    }

    @Test func aDamagedUserIsErasedAndLogsInAnew() async throws {
        try await withDamaged("user") { world, _, _ in
            try await world.fails(.damaged, "token", "get", "--user", "alice")
            try await world.fails(.damaged, "user", "disable", "alice", "--yes")
            let erased = try await world.harness.run("user", "erase", "alice", "--yes", "--json")
            #expect(erased.status == 3, "\(erased.error)")
            #expect((try erased.json["revocations"] as? [Any])?.count == 1)
            try await world.fails(.notFound, "user", "show", "alice")
            try await world.logIn("alice")
            try await world.ok("token", "get", "--user", "alice")
            try await world.ok("verify")
        }
    }

    @Test func aDamagedProviderStopsNoOtherAndIsPutBack() async throws {
        try await withDamaged("provider") { world, _, row in
            let options = [
                "--issuer", world.server.issuer, "--client-id", "demo", "--scope", "read", "--redirect-uri",
                World.redirectURI, "--allow-insecure-loopback",
            ]
            try await world.ok(["provider", "add", "other"] + options)
            let listed = try await world.ok("provider", "list", "--json").json["providers"] as? [[String: Any]]
            #expect(listed?.count == 2)
            #expect(listed?.first?["handle"] as? String == row && listed?.first?["damaged"] != nil)
            #expect(try await world.ok("provider", "list").output.contains("(\(row))\tdamaged: "))
            for command in [
                ["provider", "show", "other"], ["login", "list"], ["user", "list"], ["status"], ["outbox", "list"],
                ["login", "begin", "--user", "carol", "--provider", "other"], ["token", "get", "--user", "alice"],
                ["provider", "remove", "other", "--yes"],
            ] { try await world.ok(command) }
            let shown = try await world.fails(.damaged, "provider", "show", "acme")
            #expect(shown.error.contains("vaultctl damage show \(row)"))
            // Its logins hold what is to be revoked there.
            try await world.fails(.usage, "damage", "discard", row, "--confirm", row)
            let revoked = try await world.harness.run("user", "disable", "bob", "--yes")
            #expect(revoked.status == 3)
            // Which client the logins belong to is no longer known.
            let replacing = ["provider", "add", "acme", "--replace-damaged", row] + options
            let asked = try await world.fails(.usage, replacing)
            #expect(asked.error.contains("the logins of \(row) will be renewed as client demo at "), "\(asked.error)")
            #expect(asked.error.contains("add --yes to proceed"), "\(asked.error)")
            try await world.ok(replacing + ["--yes"])
            try await world.ok("outbox", "retry", "--all")
            #expect(!world.server.grants.filter { $0.user == "bob" }.contains { !$0.isRevoked })
            try await world.ok("login", "refresh", "--user", "alice")
            try await world.ok("verify")
        }
    }

    @Test func rowsOfOtherTablesAreDiscarded() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            _ = try await world.ok("login", "begin", "--user", "carol", "--provider", "acme")
            world.server.faults.add(.status(503).for(path: "/revoke").times(2))
            _ = try await world.harness.run("login", "revoke", login, "--yes")
            try Self.damage(world, "outbox")
            try Self.damage(world, "authorizationRequest")
            #expect(try await world.ok("outbox", "list").output.contains("damaged: "))
            let rows = try await world.ok("damage", "list", "--json").json["damage"] as? [[String: Any]]
            #expect(Set(rows?.compactMap { $0["table"] as? String } ?? []) == ["outbox", "authorizationRequest"])
            for row in rows?.compactMap({ $0["row"] as? String }) ?? [] {
                try await world.ok("damage", "discard", row, "--confirm", row)
            }
            try await world.ok("verify")
        }
    }
}
