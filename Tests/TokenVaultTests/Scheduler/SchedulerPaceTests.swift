import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVault
import TokenVaultTesting

/// How much a provider gets to do.
struct SchedulerPaceTests {
    @Test func theRateOfTheProfileIsKept() async throws {
        let world = try await World(provider: World.profile(#""limits":{"requestsPerMinute":30}"#))
        let server = RotatingServer(world)
        _ = try await world.addChains(60)
        world.expire()
        try await world.scheduling(SchedulerOptions(concurrency: 32)) { _ in
            await world.pass(upTo: .seconds(400)) { server.count == 60 }
        }
        #expect(server.count == 60)
        for time in server.times {
            let inMinute = server.times.count { $0 >= time && $0 < time + .seconds(60) }
            #expect(inMinute <= 30)
        }
        print("scheduler: 60 renewals at 30 a minute took \(server.times.last.map { $0 - server.times[0] } ?? .zero)")
    }

    @Test func retryAfterHoldsOnlyLoginsOfThatProvider() async throws {
        let world = try await World(provider: World.profile(#""limits":{"concurrentRequests":1}"#))
        try await world.vault.addProvider(Sample.provider(name: "other"))
        _ = try await world.addChains(5)
        for index in 0..<3 {
            _ = try await world.users.addLogin(
                userId: "o\(index)", provider: "other", accessToken: Sample.accessToken("o\(index)"),
                expiresAt: world.now.addingTimeInterval(3_600), refreshToken: Sample.refreshToken("o\(index)"))
        }
        world.expire()
        let server = RotatingServer(world)
        let rotating = world.transport.fallback
        world.transport.fallback = ScriptedReply { request throws(HTTPTransportError) in
            guard request.request.authority == "acme.example", server.count < 3 || world.time.uptime() < .seconds(3_700)
            else { return try await rotating.reply(to: request) }
            return try await ScriptedReply.status(.tooManyRequests, headers: [.retryAfter: "120"]).reply(to: request)
        }
        func asked(_ host: String) -> Int {
            world.transport.requests.count { $0.request.authority == host }
        }
        try await world.scheduling { _ in
            await world.pass(upTo: .seconds(90), step: .seconds(5))
            #expect(asked("acme.example") == 1)
            #expect(asked("other.example") == 3)
            await world.pass(upTo: .seconds(300), step: .seconds(5)) { asked("acme.example") >= 6 }
            #expect(asked("acme.example") == 6)
        }
    }

    @Test func failingProviderGetsFewRequests() async throws {
        let world = try await World()
        _ = try await world.addChains(60)
        world.expire()
        world.transport.fallback = .failure(.notSent, .connect)
        try await world.scheduling(SchedulerOptions(concurrency: 4)) { _ in
            await world.pass(upTo: .seconds(600), step: .seconds(2))
        }
        // Three to begin with, then after pauses of 2, 4, 8 … 60 seconds.
        #expect((8...24).contains(world.transport.requestCount), "\(world.transport.requestCount) requests")
        print(
            "scheduler: 60 due logins of a dead provider cost \(world.transport.requestCount) requests in ten minutes")
    }
}
