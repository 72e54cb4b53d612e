import DevAuthorizationServer
import EngineSupport
import Foundation
import Testing
import VaultControl

/// Who did it, and what is known of a user.
@Suite(.tags(.everyEngine))
struct ActorTests {
    private static func rows(_ world: World, _ options: String...) async throws -> [[String: Any]] {
        let output = try await world.ok(["audit", "list", "--all", "--json"] + options).output
        return try output.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    private static func kinds(_ rows: [[String: Any]]) -> [String] { rows.compactMap { $0["kind"] as? String } }

    @Test func rowsNameTheOperatorAndNoService() async throws {
        try await World.with({ $0.accessTokenLifetime = .seconds(2) }) { world in
            try await world.logIn("alice")
            try await Task.sleep(for: .seconds(2))
            try await world.ok("maintain", "--once")
            try await world.ok("user", "disable", "alice", "--yes")
            let rows = try await Self.rows(world)
            let disabled = try #require(rows.first { $0["kind"] as? String == "user-disabled" })
            let actor = try #require(disabled["actor"] as? [String: Any])
            #expect(actor["tool"] as? String == "vaultctl user disable")
            #expect(actor["uid"] as? Int == Int(geteuid()))
            #expect((actor["host"] as? String)?.isEmpty == false)
            let renewed = try #require(rows.first { $0["kind"] as? String == "renewed" })
            #expect(renewed["actor"] is NSNull)
            let text = try await world.ok("audit", "list", "--kind", "user-disabled").output
            #expect(text.contains("(vaultctl user disable)"))
            try await world.ok("verify")
        }
    }

    @Test func rowsOfLoginsNameTheirProvider() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            try await world.ok("login", "remove", login, "--yes")
            let rows = try await Self.rows(world, "--login", login)
            #expect(Self.kinds(rows).contains("login-removed"))
            #expect(rows.allSatisfy { $0["provider"] as? String == "acme" }, "\(rows)")
            #expect(try await Self.kinds(Self.rows(world, "--provider", "acme")).contains("login-removed"))
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
            let rows = try await Self.rows(world, "--user-handle", handle, "--kind", "user-erased")
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
            #expect((document["user"] as? [String: Any])?["id"] as? String == "alice")
            let logins = try #require(document["logins"] as? [[String: Any]])
            #expect(logins.map { $0["id"] as? String } == [login])
            #expect(logins[0].keys.contains("subject") && logins[0].keys.contains("attributes"))
            let rows = try #require(document["auditRows"] as? [[String: Any]])
            #expect(Self.kinds(rows).contains("login-created"))
            let handles = Set(rows.compactMap { $0["user"] as? String })
            #expect(handles.count == 1)
            #expect(try await Self.kinds(Self.rows(world)).last == "users-resolved")
            try await world.fails(.notFound, "user", "export", "carol")
        }
    }
}
