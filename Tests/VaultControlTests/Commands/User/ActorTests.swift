import DevAuthorizationServer
import EngineSupport
import Foundation
import Testing
import VaultControl

/// Who did it, and what is known of a user.
struct ActorTests {
    private static func rows(_ world: World, _ options: String...) async throws -> [[String: Any]] {
        let output = try await world.ok(["audit", "list", "--all", "--json"] + options).output
        return try output.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    private static func kinds(_ rows: [[String: Any]]) -> [String] { rows.compactMap { $0["kind"] as? String } }

    @Test func rowsNameTheOperatorAndNoService() async throws {
        try await World.with { world in
            try await world.logInExpired("alice")
            try await world.ok("maintain", "--once")
            try await world.ok("user", "disable", "alice", "--yes")
            let rows = try await Self.rows(world)
            let disabled = try #require(rows.first { $0["kind"] as? String == "userDisabled" })
            let actor = try #require(disabled["actor"] as? [String: Any])
            #expect(actor["tool"] as? String == "vaultctl user disable")
            #expect(actor["uid"] as? Int == Int(geteuid()))
            #expect((actor["host"] as? String)?.isEmpty == false)
            let renewed = try #require(rows.first { $0["kind"] as? String == "renewed" })
            #expect(renewed["actor"] is NSNull)
            let text = try await world.ok("audit", "list", "--kind", "userDisabled").output
            #expect(text.contains("(vaultctl user disable)"))
            try await world.ok("verify")
        }
    }

    /// In a file and on a server: the vault's making, and a restore that the operator tells of.
    @Test func rowsOfCreationAndRestoreNameTheOperator() async throws {
        try await World.with { world in
            try await world.logIn("alice")
            try await world.ok("restore", "hold", "--yes")
            let rows = try await Self.rows(world)
            for (kind, tool) in [("vaultCreated", "vaultctl init"), ("vaultRestored", "vaultctl restore hold")] {
                let row = try #require(rows.first { $0["kind"] as? String == kind }, "\(Self.kinds(rows))")
                let actor = try #require(row["actor"] as? [String: Any], "\(row)")
                #expect(actor["tool"] as? String == tool)
                #expect(actor["uid"] as? Int == Int(geteuid()))
            }
        }
    }

    /// Those too that are written before there is an open vault: by its making, by a migration, by a restore.
    @Test(.aboutFiles("a server's database is migrated and restored by other means"))
    func rowsOfAnOpeningNameTheOperator() async throws {
        func tools(_ vault: String, _ key: String, _ kind: String) async throws -> [String?] {
            let output = try await harness.run(
                "audit", "list", "--all", "--json", "--kind", kind, "--vault", vault, "--key-file", key
            ).output
            return try output.split(separator: "\n").map { line in
                let row = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                return (row?["actor"] as? [String: Any])?["tool"] as? String
            }
        }
        let harness = try Harness()
        #expect(try await harness.run("init").status == 0)
        #expect(try await tools(harness.vault, harness.key, "vaultCreated") == ["vaultctl init"])

        try FileManager.default.createDirectory(
            atPath: harness.path("backup"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let made = try await harness.run("backup", "create", harness.path("backup"), "--same-device", "--json").json
        let restored = harness.path("restored.vault")
        #expect(try await harness.run("backup", "restore", try #require(made["path"] as? String), restored).status == 0)
        #expect(try await tools(restored, harness.key, "vaultRestored") == ["vaultctl backup restore"])

        let old = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Vaults/v007")
        let (vault, key) = (harness.path("old.vault"), harness.path("old.key"))
        for (name, path) in [("vault.db", vault), ("vault.key", key)] {
            try FileManager.default.copyItem(atPath: old.appending(path: name).standardizedFileURL.path, toPath: path)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        }
        let migrated = try await harness.run("migrate", "up", "--yes", "--vault", vault, "--key-file", key)
        #expect(migrated.status == 0, "\(migrated.error)")
        #expect(try await tools(vault, key, "vaultMigrated").last == "vaultctl migrate up")
    }

    @Test func rowsOfLoginsNameTheirProvider() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            try await world.ok("login", "remove", login, "--yes")
            let rows = try await Self.rows(world, "--login", login)
            #expect(Self.kinds(rows).contains("loginRemoved"))
            #expect(rows.allSatisfy { $0["provider"] as? String == "acme" }, "\(rows)")
            #expect(try await Self.kinds(Self.rows(world, "--provider", "acme")).contains("loginRemoved"))
        }
    }

    @Test func anErasureLeavesOneRowAndACertificate() async throws {
        try await World.with { world in
            try await world.logIn("alice")
            let handle = try #require(
                (try await world.ok("user", "show", "alice", "--json").json["user"] as? [String: Any])?["handle"]
                    as? String)
            let path = world.harness.path("erased.json")
            let erased = try await world.harness.run("user", "erase", "alice", "--yes", "--certificate", path, "--json")
            #expect(erased.status == World.statusOfErasure.rawValue, "\(erased.error)")
            let object = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: path)))
            let certificate = try #require(object as? [String: Any])
            #expect(certificate["handle"] as? String == handle)
            let rows = try await Self.rows(world, "--user-handle", handle, "--kind", "userErased")
            #expect(rows.map { $0["sequence"] as? Int } == [certificate["row"] as? Int])
            #expect(try String(contentsOfFile: path, encoding: .utf8).contains("alice") == false)
            let exported = try await world.ok("audit", "export", "--since", "0", "--jsonl").output
            let head = try #require(certificate["head"] as? [String: Any])
            let link = try #require(head["link"] as? String)
            #expect(exported.replacingOccurrences(of: "\\/", with: "/").contains(link))
            // Nothing is erased without its certificate.
            try await world.logIn("bob")
            try await world.fails(.usage, "user", "erase", "bob", "--yes", "--certificate", path)
            try await world.ok("user", "show", "bob")
        }
    }

    @Test func whatIsHeldOfAUserIsExportedWithoutSecrets() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            try await world.logIn("bob")
            let document = try await world.ok("user", "export", "alice").json
            let file = world.harness.path("alice.json")
            let written = try await world.ok("user", "export", "alice", "--out", file, "--json").json
            #expect(written["exported"] as? String == file)
            #expect((document["user"] as? [String: Any])?["id"] as? String == "alice")
            let logins = try #require(document["logins"] as? [[String: Any]])
            #expect(logins.map { $0["id"] as? String } == [login])
            #expect(logins[0].keys.contains("subject") && logins[0].keys.contains("attributes"))
            let rows = try #require(document["auditRows"] as? [[String: Any]])
            #expect(Self.kinds(rows).contains("loginCreated"))
            let handles = Set(rows.compactMap { $0["user"] as? String })
            #expect(handles.count == 1)
            #expect(try await Self.kinds(Self.rows(world)).last == "usersResolved")
            try await world.fails(.notFound, "user", "export", "carol")
        }
    }
}
