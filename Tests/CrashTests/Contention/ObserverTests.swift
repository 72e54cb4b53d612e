import DevAuthorizationServer
import Foundation
import OAuthClient
import TestSupport
import Testing
import TokenVault
import VaultAdministration
import VaultStorage

/// Processes that run an observer of one name, and are killed while it is being told of an event.
@Suite(.serialized)
struct ObserverTests {
    /// Each process hears three events and dies in the third, beside one that waits for its turn.
    @Test(arguments: [false, true]) func aKilledProcessIsFollowedByTheNext(onServer: Bool) async throws {
        let server = onServer ? try PostgreSQLServer.shared().address(schema: PostgreSQLServer.newSchema()) : nil
        let rounds = Depth.pick(brief: 3, nightly: 5, deep: 40)
        try await CrashWorld.with { world in
            let place = try await world.makeVault("observers", on: server)
            let vault = try await place.open()
            let users = try await world.users(vault)
            let names = (0..<(2 * rounds + 1)).map { "user-\($0)" }
            for name in names {
                let login = try await users.addLogin(userId: name, accessToken: AccessToken("access-\(name)"))
                try await users.terminate(.login(login.id), reason: .globalBan)
            }
            func heard(_ number: Int) -> String { "heard stateChanged \(names[number])" }
            let zygotes = try [Zygote(), Zygote()]
            var (job, first) = (try await Self.start(zygotes[0], place, last: 3), 0)
            for round in 1...rounds {
                #expect(try await job.wait(for: heard(first + 2)))
                // It lives, and so it is waited for.
                let next = try await Self.start(zygotes[round % 2], place, last: 3)
                job.send(SIGKILL)
                #expect(try await job.wait() == .signal(SIGKILL))
                #expect(job.lines.filter { $0.hasPrefix("heard") } == (first...(first + 2)).map(heard))
                // The event in which it died comes again, and none before.
                (job, first) = (next, first + 2)
            }
            #expect(try await job.wait(for: heard(first)))
            job.send(SIGKILL)
            #expect(try await job.wait() == .signal(SIGKILL))
            #expect(job.lines.filter { $0.hasPrefix("heard") } == [heard(first)])
            #expect(try await vault.verify().isClean)
            await vault.close()
        }
        print("observers: \(rounds) processes killed, \(2 * rounds + 1) events")
    }

    private static func start(_ zygote: Zygote, _ place: CrashVault, last: Int) async throws -> Job {
        let job = try await zygote.start("observe", place.arguments.merging(["last": "\(last)"]) { $1 })
        #expect(try await job.wait(for: "open"))
        return job
    }
}
