import Foundation
import TokenVault
import TokenVaultHTTP
import TestSupport
import Testing
import VaultControl

/// `vaultctl events`, and the events that vaultctl causes in other processes.
struct EventsCommandTests {
    private static func lines(_ text: String) throws -> [[String: Any]] {
        try text.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    /// A vault with a login of alice, whose token was set once.
    private static func filled() async throws -> (harness: Harness, login: String) {
        let harness = try await BadInputTests.filled()
        let login =
            try await harness.run("login", "list", "--user", "alice", "--json").json["logins"] as? [[String: Any]]
        let id = try #require(login?.first?["id"] as? String)
        try await update(harness, id)
        return (harness, id)
    }

    private static func update(_ harness: Harness, _ login: String) async throws {
        let result = try await harness.run(
            ["token", "update", login, "--access-token", "-", "--expires-in", "1h"], input: "CANARY-next")
        #expect(result.status == 0, "\(result.error)")
    }

    @Test func theLastEventsAreShown() async throws {
        let (harness, login) = try await Self.filled()
        let text = try await harness.run("events").output.split(separator: "\n").map { $0.split(separator: "\t") }
        #expect(text.map { $0[1] } == ["stateChanged", "updated"])
        #expect(text.allSatisfy { $0[2] == "alice" && $0[3] == login })
        let events = try Self.lines(try await harness.run("events", "--json").output)
        #expect(events.map { $0["event"] as? String } == ["stateChanged", "updated"])
        #expect(events.map { $0["generation"] as? Int } == [1, 2])
        #expect(events.first?["state"] as? String == "established")
        #expect(events.allSatisfy { $0["user"] as? String == "alice" && $0["login"] as? String == login })
        #expect(try Self.lines(try await harness.run("events", "--json", "--last", "1").output).count == 1)
        #expect(try await harness.run("events", "--last", "0").output.isEmpty)
    }

    @Test func theyAreOfOneLoginOrUserIfToldSo() async throws {
        let (harness, login) = try await Self.filled()
        let other = try await harness.run(
            ["login", "add", "--user", "bob", "--access-token", "-"], input: "CANARY-bob"
        ).line
        #expect(try await harness.run("events", "--user", "bob", "--json").output.contains(other))
        #expect(try await !harness.run("events", "--user", "bob", "--json").output.contains(login))
        #expect(try Self.lines(try await harness.run("events", "--login", login, "--json").output).count == 2)
        #expect(try await harness.run("events", "--user", "nobody").status == 2)
        #expect(try await harness.run("events", "--login", "x").status == 1)
        #expect(try await harness.run("events", "--login", login, "--user", "bob").status == 1)
        #expect(try await harness.run("events", "--last", "-1").status == 1)
    }

    @Test(arguments: [("INT", 130), ("TERM", 143)] as [(String, Int32)])
    func followingTellsWhatOthersDoAndEndsWithASignal(_ signal: String, _ status: Int32) async throws {
        let (harness, login) = try await Self.filled()
        let script = """
            : >"$dir/events"
            "$vaultctl" events --follow --last 1 --json >>"$dir/events" 2>"$dir/error" &
            until grep -q updated "$dir/events"; do sleep 0.05; done
            printf CANARY-x | "$vaultctl" token update \(login) --access-token - --expires-in 60s --quiet >/dev/null
            until grep -q willExpire "$dir/events"; do sleep 0.05; done
            "$vaultctl" login remove \(login) --yes --quiet >/dev/null
            until grep -q notLoggedIn "$dir/events"; do sleep 0.05; done
            kill -\(signal) $!; wait $!; status=$?
            cat "$dir/events"; cat "$dir/error" >&2
            exit $status
            """
        let result = try await Program(harness: harness).shell(script)
        #expect(result.status == status, "\(result.error)")
        #expect(result.error.isEmpty, "\(result.error)")
        let events = try Self.lines(result.output)
        #expect(events.map { $0["event"] as? String } == ["updated", "updated", "willExpire", "stateChanged"])
        #expect(events.map { $0["generation"] as? Int } == [2, 3, 3, 3])
    }

    @Test func aReaderThatGoesAwayEndsIt() async throws {
        let (harness, _) = try await Self.filled()
        let script = """
            { timeout 60 "$vaultctl" events --follow; echo "$?" >"$dir/status"; } | head -n 1 >/dev/null
            until [ -s "$dir/status" ]; do sleep 0.05; done
            cat "$dir/status"
            """
        let result = try await Program(harness: harness).shell(script)
        #expect(result.output == "0\n", "\(result.error)")
        #expect(result.error.isEmpty, "\(result.error)")
    }

    /// What vaultctl does is told in a process that uses the library, once.
    @Test func whatVaultctlDoesIsToldInOtherProcesses() async throws {
        let (harness, login) = try await Self.filled()
        let vault = try await Vault.open(in: harness.location(), unlockedBy: .keyFile(harness.key))
        let users = try await UserManager(
            vault: vault, transport: AsyncHTTPTransport(), options: UserManagerOptions(recoveryInterval: nil))
        var iterator = users.events(userId: "alice").makeAsyncIterator()
        let script = """
            for i in 1 2 3; do
              printf CANARY-x | "$vaultctl" token update \(login) --access-token - --expires-in 1h --quiet >/dev/null || exit
            done
            "$vaultctl" user disable alice --yes --quiet >/dev/null
            """
        let result = try await Program(harness: harness).shell(script)
        #expect(result.status == 0, "\(result.error)")
        var told: [SessionEvent] = []
        while told.count < 4, let event = await iterator.next(isolation: nil) { told.append(event) }
        #expect(
            told.map(\.kind) == [.updated, .updated, .updated, .stateChanged(.terminated(.userDisabled))])
        #expect(told.compactMap(\.generation) == [3, 4, 5, 6])
        await vault.close()
        #expect(await iterator.next(isolation: nil) == nil)
    }
}
