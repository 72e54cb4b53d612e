import Foundation
import TestSupport
import Testing
import VaultCrypto
import VaultSQLite
import VaultStorage

@Suite(.serialized)
struct CrashTests {
    /// What was acknowledged before a SIGKILL is there afterwards. (Power loss is a matter of `synchronous=FULL`.)
    @Test(arguments: [1, 8])
    func aKilledProcessLosesNothingThatWasAcknowledged(logins: Int) async throws {
        let fixture = try VaultFixture()
        try fixture.create().close()
        var acknowledged: [String: Int64] = [:]
        let kills = Depth.pick(brief: 6, nightly: 6, deep: 250)
        for kill in 0..<kills {
            let probe = try Probe(fixture, user: "round-\(kill)", logins: logins, rounds: 100_000)
            let lines = probe.lines { $0.count > 20 + kill % 20 * 13 } + probe.kill()
            for line in lines {
                let words = line.split(separator: " ")
                if words.count == 3, let generation = Int64(words[2]) {
                    acknowledged[String(words[1])] = max(acknowledged[String(words[1])] ?? 0, generation)
                }
            }
            let store = try fixture.open()
            for (user, generation) in acknowledged {
                let stored = try await store.login(try await store.session(.user(user)).login)
                #expect(stored.position.generation >= generation)
                #expect(stored.position.generation <= generation + 1 || user.hasPrefix("round-\(kill)"))
                #expect(stored.refresh?.refreshToken?.string() == "\(stored.position.generation)")
            }
            #expect(try await store.verify().findings == [])
            store.close()
        }
        print("crash: \(kills) kills, \(logins) logins each, \(acknowledged.values.reduce(0, +)) acknowledged writes")
        #expect(acknowledged.count >= kills)
    }

    @Test func deadOwnerIsDetectedButAStoppedOneIsAlive() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let probe = try Probe(fixture, user: "x", logins: 1, rounds: 100_000)
        let line = probe.lines { !$0.isEmpty }.first { $0.hasPrefix("owner ") }
        let owner = try #require(line.flatMap { Int64($0.dropFirst(6)) })
        #expect(store.isOwnerAlive(owner))
        probe.stop()
        #expect(store.isOwnerAlive(owner))
        _ = probe.kill()
        #expect(!store.isOwnerAlive(owner))
        #expect(store.isOwnerAlive(store.owner))
        #expect(!store.isOwnerAlive(0) && !store.isOwnerAlive(store.owner ^ 1))
    }

    @Test func twoProcessesWriteAtTheSameTime() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let probe = try Probe(fixture, user: "other", logins: 4, rounds: 50)
        let login = try await store.insertLogin(fixture.draft("alice"))
        for _ in 0..<100 {
            try await store.updateLogin(login.handle) { $0.session.attempts += 1 }
            _ = try await store.session(.user("alice"))
        }
        #expect(probe.lines().last == "done")
        #expect(probe.wait() == 0)
        for number in 0..<4 { #expect(try await store.session(.user("other-\(number)")).position.generation == 51) }
        #expect(try await store.login(login.handle).session.attempts == 100)
        #expect(try await store.verify().findings == [])
    }
}
