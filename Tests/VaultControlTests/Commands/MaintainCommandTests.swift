import EngineSupport
import DevAuthorizationServer
import Foundation
import Glibc
import TestSupport
import Testing
import TokenVault
import VaultControl

/// `vaultctl maintain` and what `vaultctl status` tells of it, against a real server.
@Suite(.tags(.everyEngine))
struct MaintainCommandTests {
    @Test func onceRenewsWhatIsDueAndTellsSo() async throws {
        try await World.with { world in
            try await world.logInExpired("alice")
            try await world.logInExpired("bob")
            let result = try await world.ok("maintain", "--once", "--json")
            let document = try result.json
            #expect(document["renewed"] as? Int == 2)
            #expect(document["failed"] as? Int == 0)
            #expect((document["outcomes"] as? [String: Int]) == ["renewed": 2])
            #expect(result.error.split(separator: "\n").count { $0.contains("renewed ") && $0.contains("(acme)") } == 2)
            #expect(!result.error.contains("alice"))
        }
    }

    @Test func theRootKeyIsReplacedWhenThatIsDue() async throws {
        try await World.with { world in
            try await world.logIn("alice")
            try await world.fails(.usage, "maintain", "--once", "--rotate-root-every", "23h")
            let young = try await world.ok("maintain", "--once", "--rotate-root-every", "1d")
            #expect(!young.error.contains("root key"))
            // One that was broken off is gone on with, whatever its age.
            try await Self.breakOffRotation(of: world)
            let doctor = try await world.harness.run("doctor", "--json").json["findings"] as? [[String: Any]]
            let finding = doctor?.first { $0["check"] as? String == "rootKey" }
            #expect(finding?["level"] as? String == "warning")
            let due = try await world.ok("maintain", "--once", "--rotate-root-every", "1d")
            #expect(due.error.contains("replaced the root key"))
            #expect(try await world.ok("key", "rotate", "--status", "--json").json["isRotating"] as? Bool == false)
            #expect(try await world.ok("audit", "list", "--json").output.contains("\"rootKeyRotated\""))
        }
    }

    private static func breakOffRotation(of world: World) async throws {
        let vault = try await Vault.open(in: world.harness.location(), unlockedBy: .keyFile(world.harness.key))
        let rotation = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await vault.rotateRootKey(progress: { _ in })
        }
        rotation.cancel()
        await #expect(throws: CancellationError.self) { try await rotation.value }
        await vault.close()
    }

    @Test func onceSaysWhatDidNotSucceed() async throws {
        try await World.with { world in
            try await world.logInExpired("alice")
            _ = world.server.revokeGrant(user: "alice")
            let result = try await world.harness.run("maintain", "--once")
            #expect(result.status == 3)
            #expect(result.error.contains("is dead: deadGrant; the user must log in again"))
            #expect(result.output.contains("dead\t1"))
            let status = try await world.ok("status", "--json").json
            let states = try #require(status["states"] as? [[String: Any]])
            #expect(states.first?["provider"] as? String == "acme")
            #expect(states.first?["dead"] as? Int == 1)
        }
    }

    @Test func onceSaysWhyALoginWasNotRenewed() async throws {
        try await World.with { world in
            try await world.logInExpired("alice")
            let words = #"{"error":"temporarily_unavailable","error_description":"back at ten\u001b[2J"}"#
            world.server.faults.add(.status(429, headers: ["Content-Type": "application/json"], body: words))
            let result = try await world.harness.run("maintain", "--once")
            #expect(result.status == 3)
            let line = try #require(
                result.error.split(separator: "\n").first { $0.contains("was not renewed: transient; next try in ") })
            #expect(line.hasSuffix("; the provider said: 429 temporarily_unavailable: back at ten[2J"), "\(line)")
        }
    }

    @Test func linesCanBeObjects() async throws {
        try await World.with { world in
            let login = try await world.logInExpired("alice")
            let result = try await world.ok("maintain", "--once", "--log-format", "json")
            let line = try #require(result.error.split(separator: "\n").first)
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let renewal = try #require(object["renewal"] as? [String: Any])
            #expect(renewal["login"] as? String == login)
            #expect(renewal["provider"] as? String == "acme")
            #expect(renewal["outcome"] as? String == "renewed")
            #expect((renewal["nextDue"] as? String)?.hasSuffix("Z") == true)
            #expect((object["log"] as? [String: Any])?["level"] as? String == "info")
            #expect(result.error.split(separator: "\n").allSatisfy { $0.hasPrefix("{") })
        }
    }

    @Test func twoProcessesShareTheWorkAndEndGracefullyOnSIGTERM() async throws {
        try await World.with({ $0.accessTokenLifetime = .seconds(5) }) { world in
            for index in 0..<10 { try await world.logIn("user-\(index)") }
            let before = world.refreshes
            let maintainers = try [Maintainer(world.harness), Maintainer(world.harness)]
            // Each token is renewed twice or so, by either of them.
            try await eventually { world.refreshes >= before + 20 }
            for maintainer in maintainers { kill(maintainer.process.processIdentifier, SIGTERM) }
            func renewed(_ maintainer: Maintainer) async throws -> Int {
                #expect(await maintainer.end() == 0)
                #expect(maintainer.words.contains("maintaining this vault"))
                let document = try maintainer.result
                #expect(document["failed"] as? Int == 0)
                return try #require(document["renewed"] as? Int)
            }
            let (one, two) = (try await renewed(maintainers[0]), try await renewed(maintainers[1]))
            let requests = world.refreshes - before
            #expect(one + two == requests)
            print("maintain: two processes renewed \(one) + \(two), \(requests) requests")
            let verified = try await world.ok("verify", "--json").json
            #expect(verified["isClean"] as? Bool == true)
        }
    }

    @Test(.aboutFiles("the file is exchanged")) func itEndsWhenAnotherFileIsInTheVaultsPlace() async throws {
        try await World.with { world in
            try await world.logIn("alice")
            let maintainer = try Maintainer(world.harness)
            try await maintainer.hasSaid("maintaining this vault")
            let (path, aside) = (world.harness.vault, world.harness.path("aside"))
            try FileManager.default.moveItem(atPath: path, toPath: aside)
            try FileManager.default.copyItem(atPath: aside, toPath: path)
            #expect(await maintainer.end() == ExitStatus.rollback.rawValue)
            #expect(maintainer.words.contains("was replaced or removed"), "\(maintainer.words)")
            #expect(!maintainer.words.contains("renewed again"))
        }
    }

    @Test func statusCountsAndDraws() async throws {
        try await World.with { world in
            for index in 0..<3 { try await world.logIn("user-\(index)") }
            let document = try await world.ok("status", "--json").json
            #expect(document["logins"] as? Int == 3)
            let states = try #require(document["states"] as? [[String: Any]])
            #expect(states.count == 1)
            #expect(states[0]["established"] as? Int == 3)
            #expect(states[0]["isFailing"] as? Bool == false)
            let expiries = try #require(document["expiries"] as? [[String: Any]])
            #expect(expiries.reduce(0) { $0 + ($1["logins"] as? Int ?? 0) } == 3)
            #expect(document["nextDue"] is String)
            let text = try await world.ok("status").output
            #expect(text.contains("established\t3\n"))
            #expect(text.contains("access tokens expired\t0\n"))
            #expect(text.contains("provider\tacme\t3\t0\t0\t0\t0\t0\t0\t20"))
            let brief = try await world.ok("status", "--brief", "--json").json
            #expect(brief["states"] == nil)
            #expect(brief["logins"] as? Int == 3)
        }
    }
}
