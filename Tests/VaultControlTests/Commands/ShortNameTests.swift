import EngineSupport
import Foundation
import Testing
import TokenVault

@testable import VaultControl

/// Ids by their beginning, slots by their label, backups by id, path and `latest`.
struct ShortNameTests {
    private static func login(_ harness: Harness, _ user: String) async throws -> String {
        let made = try await harness.run("login", "add", "--user", user, "--access-token", "-", input: "token")
        try #require(made.status == 0, "\(made.error)")
        return made.line
    }

    @Test func loginsAreNamedByTheBeginningOfTheirIds() async throws {
        let harness = try Harness()
        try await harness.run("init")
        let (one, two) = (try await Self.login(harness, "alice"), try await Self.login(harness, "bob"))
        let length = zip(one, two).prefix { $0 == $1 }.count
        try #require(length < 10)
        for text in [
            String(one.prefix(10)), one.uppercased(), " \(one)", "\(one)\t", String(one.prefix(12)).uppercased() + " ",
        ] {
            let shown = try await harness.run("login", "show", text, "--json")
            #expect(try shown.status == 0 && shown.json["id"] as? String == one, "\(text): \(shown.error)")
        }
        #expect(try await harness.run("token", "get", String(two.prefix(10))).status == 0)
        #expect(try await harness.run("audit", "list", "--login", String(two.prefix(10))).output.contains(two))
        // Their order is that of the bytes, not of the letters.
        let listed = try await harness.run("login", "list").output.split(separator: "\n")
        let last = try #require(listed.last?.prefix(10))
        #expect(try await harness.run("login", "list", "--after", String(last)).output.isEmpty)

        let other = String(one.prefix(9)) + (one.dropFirst(9).first == "a" ? "b" : "a")
        let missing = try await harness.run("login", "show", other)
        #expect(missing.status == 2 && missing.error.contains("no login's id begins with \(other)"), "\(missing.error)")
        for text in [" ", "abc", "0123", one + "a", "alice!"] {
            let refused = try await harness.run("login", "show", text)
            #expect(refused.status == 1 && refused.error.contains("is not a login id"), "\(refused.error)")
        }
        let user = try await harness.run("login", "show", "alice")
        #expect(user.status == 2 && user.error.contains("--user alice"), "\(user.error)")
    }

    @Test func keySlotsAreNamedByLabelAndBeginning() async throws {
        let harness = try Harness()
        try await harness.run("init")
        let slot = try await harness.run(
            "key", "add", "--new-key-file", harness.path("b.key"), "--label", "offline copy"
        ).line
        let proven = try await harness.run("key", "test", "offline copy", "--key-file", harness.path("b.key"))
        #expect(proven.status == 0 && proven.error.contains(slot), "\(proven.error)")
        #expect(
            try await harness.run("key", "test", String(slot.prefix(8)), "--key-file", harness.path("b.key")).status
                == 0)
        for text in ["abc", "no such label"] {
            let refused = try await harness.run("key", "test", text)
            #expect(
                refused.status == 1 && refused.error.contains("is not a key slot id, nor a label"), "\(refused.error)")
        }
        let removed = try await harness.run("key", "remove", slot.prefix(6).uppercased(), "--yes", "--json")
        #expect(try removed.json["removed"] as? String == slot, "\(removed.error)")
    }

    @Test(.aboutFiles("backups")) func backupsAreNamedByIdPathAndLatest() async throws {
        let harness = try Harness()
        try await harness.run("init")
        #expect(
            try await harness.run("backup", "verify", "latest").error.contains("no backup was made of this vault yet"))
        let first = try await harness.run("backup", "create", harness.path("one.tvbackup"), "--same-device", "--json")
        let last = try await harness.run("backup", "create", harness.path("two.tvbackup"), "--same-device", "--json")
        let ids = try [first, last].map { try #require($0.json["backup"] as? String) }
        for (text, id) in [
            ("latest", ids[1]), (ids[0], ids[0]), (String(ids[1].prefix(12)), ids[1]), (ids[0].uppercased(), ids[0]),
            (harness.path("one.tvbackup"), ids[0]),
        ] {
            let verified = try await harness.run("backup", "verify", text, "--json")
            #expect(try verified.json["backup"] as? String == id, "\(text): \(verified.error)")
        }
        let restored = try await harness.run(
            "backup", "restore", "latest", harness.path("new.vault"), "--dry-run", "--json")
        #expect(try restored.json["backup"] as? String == ids[1], "\(restored.error)")
        let there = try await harness.run("backup", "forget", harness.path("one.tvbackup"), "--yes")
        #expect(there.status == 1 && there.error.contains("still there"), "\(there.error)")
        try FileManager.default.removeItem(atPath: harness.path("one.tvbackup"))
        let gone = try await harness.run("backup", "verify", ids[0])
        #expect(gone.status == 2 && gone.error.contains("is no longer at"), "\(gone.error)")
        #expect(try await harness.run("backup", "forget", harness.path("one.tvbackup"), "--yes").status == 0)
        #expect(try await harness.run("backup", "forget", String(ids[0].prefix(10)), "--yes").status == 2)
    }
}
