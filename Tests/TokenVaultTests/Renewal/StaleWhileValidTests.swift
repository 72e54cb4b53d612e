import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVault
import TokenVaultTesting

/// If an early renewal does not succeed and the old token still satisfies the caller, he gets the old token.
struct StaleWhileValidTests {
    enum Failure: String, CaseIterable, Sendable {
        case unreachable, serverError, throttled, refusedClient, needsUser, unreadable, lostReply, dead

        var replies: [ScriptedReply] {
            switch self {
            case .unreachable: [.failure(.notSent, .connect)]
            case .serverError: [.status(.serviceUnavailable)]
            case .throttled: [.status(.tooManyRequests, headers: [.retryAfter: "300"])]
            case .refusedClient: [.error("invalid_client", status: .unauthorized)]
            case .needsUser: [.error("interaction_required")]
            case .unreadable: [.json("<html>"), .json("<html>")]
            case .lostReply: [.failure(.maybeSent, .timeout), .failure(.maybeSent, .timeout)]
            case .dead: [.error("invalid_grant")]
            }
        }
    }

    /// A token of an hour of which four minutes are left: less than a caller gets by default.
    private func world() async throws -> World {
        let world = try await World()
        try await world.addChain()
        world.time.advance(by: .seconds(3_360))
        return world
    }

    @Test(arguments: Failure.allCases)
    func sufficientOldTokenIsReturnedOnAnyFailure(failure: Failure) async throws {
        let world = try await world()
        for reply in failure.replies { world.transport.enqueue(reply) }
        world.transport.fallback = failure.replies[0]
        let names = try await world.withTimePassing {
            let first = try await world.users.accessToken(userId: "alice").name
            // And again, when there is an obstacle on record.
            let second = try await world.users.accessToken(userId: "alice").name
            return [
                first, second,
                try await world.users.accessToken(userId: "alice", minimumValidity: .seconds(60)).name,
            ]
        }
        #expect(names == ["1", "1", "1"])
        #expect(world.transport.requestCount >= 1)
    }

    @Test(arguments: Failure.allCases)
    func anOldTokenThatDoesNotSatisfyIsNot(failure: Failure) async throws {
        let world = try await world()
        for reply in failure.replies { world.transport.enqueue(reply) }
        world.transport.fallback = failure.replies[0]
        await world.withTimePassing {
            let code = await code { try await world.users.accessToken(userId: "alice", minimumValidity: .seconds(600)) }
            #expect(code != nil)
        }
    }

    @Test func deadlineBoundsTheCallerNotTheRenewal() async throws {
        let world = try await world()
        let gate = Gate()
        world.transport.enqueue(ScriptedReply.generation("2").behind(gate))
        let early = Task { try await world.users.accessToken(userId: "alice", deadline: .seconds(2)).name }
        let strict = Task {
            await code {
                try await world.users.accessToken(
                    userId: "alice", minimumValidity: .seconds(1_000), deadline: .seconds(2))
            }
        }
        await world.transport.waitForRequests(1)
        await world.time.waitForSleepers(2)
        world.time.advance(by: .seconds(2))
        #expect(try await early.value == "1")
        #expect(await strict.value == .deadlineExceeded)
        gate.open()
        while try await world.users.validAccessToken(for: .user("alice"))?.name != "2", !Task.isCancelled {
            await Task.yield()
        }
        #expect(world.transport.requestCount == 1)
    }

    @Test func deadlineHoldsDespiteTheRateLimit() async throws {
        let world = try await World(provider: World.profile(#""limits":{"requestsPerMinute":1}"#))
        try await world.addChain()
        try await world.addChain(user: "bob", name: "b")
        world.time.advance(by: .seconds(3_360))
        world.transport.enqueue(.generation("2"), .generation("b2"))
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
        let bob = Task { try await world.users.accessToken(userId: "bob", deadline: .seconds(1)).name }
        await world.time.waitForSleepers(2)
        world.time.advance(by: .seconds(1))
        #expect(try await bob.value == "b")
        #expect(world.transport.requestCount == 1)
        world.time.advance(by: .seconds(60))
        while try await world.users.validAccessToken(for: .user("bob"))?.name != "b2", !Task.isCancelled {
            await Task.yield()
        }
    }

    @Test func aClockThatIsSetDoesNotMoveADeadline() async throws {
        let world = try await world()
        let gate = Gate()
        world.transport.enqueue(ScriptedReply.generation("2").behind(gate))
        let caller = Task { try await world.users.accessToken(userId: "alice", deadline: .seconds(5)).name }
        await world.transport.waitForRequests(1)
        world.time.setWallClock(forwardBy: .seconds(30))
        gate.open()
        #expect(try await caller.value == "2")
    }
}
