import OAuthClient
import Testing
import TokenVaultTesting
import VaultStorage

@testable import TokenVault

/// One total time for a renewal with all its repeats.
struct BudgetTests {
    /// A server that never ends its reply: whoever asks waits for as long as he may.
    private func dripping(_ world: World) -> ScriptedReply {
        ScriptedReply { request throws(HTTPTransportError) in
            try? await world.time.sleep(for: request.timeout)
            throw HTTPTransportError(.maybeSent, .timeout)
        }
    }

    /// Inside the grace of a server that forgives replays there would be time for four requests of thirty seconds.
    @Test func aRenewalEndsWithinItsBudget() async throws {
        let world = try await World(
            provider: World.provider(refresh: #"{"rotation":"always","graceSeconds":600}"#))
        let login = try await world.addChain()
        world.transport.fallback = dripping(world)
        world.expire()
        let start = world.time.uptime()
        let outcome = await world.withTimePassing {
            await code { try await world.users.accessToken(for: .login(login.id)) }
        }
        #expect(outcome == .tryLater)
        #expect(world.time.uptime() - start <= .seconds(45))
        #expect(world.transport.requests.map(\.timeout) == [.seconds(30), .milliseconds(14_750)])
        #expect(try await world.vault.login(login.id).isInDoubt)
    }

    @Test func aReplayWithTooLittleTimeIsNotBegun() async throws {
        let world = try await World(
            provider: World.provider(refresh: #"{"rotation":"always","graceSeconds":600}"#))
        let login = try await world.addChain()
        world.transport.fallback = ScriptedReply { _ throws(HTTPTransportError) in
            try? await world.time.sleep(for: .milliseconds(17_500))
            throw HTTPTransportError(.maybeSent, .reset)
        }
        world.expire()
        _ = await world.withTimePassing { await code { try await world.users.accessToken(for: .login(login.id)) } }
        // 17.5 s and 17.75 s are gone then.
        #expect(world.transport.requestCount == 2)
    }

    /// The next refresh token is redeemed at once, if there is time for it.
    @Test func theSuccessorIsRedeemedWithinTheSameBudget() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.fallback = ScriptedReply { request throws(HTTPTransportError) in
            try? await world.time.sleep(for: .seconds(29))
            return try await ScriptedReply.json(#"{"refresh_token":"CANARY-refresh-2","token_type":"Bearer"}"#)
                .reply(to: request)
        }
        world.expire()
        let start = world.time.uptime()
        _ = await world.withTimePassing { await code { try await world.users.accessToken(for: .login(login.id)) } }
        #expect(world.transport.requests.map(\.timeout) == [.seconds(30), .seconds(16)])
        #expect(world.time.uptime() - start <= .seconds(60))
        #expect(world.transport.requests.last?.form["refresh_token"] == "CANARY-refresh-2")
    }

    @Test func nobodyIsCalledStalledWithinTheBudget() throws {
        for seconds in [1, 10, 30, 45, 120, 600] {
            var policy = ReplayPolicy()
            policy.timeout = .seconds(seconds)
            #expect(policy.budget >= policy.timeout + RenewalBudget.leastForRequest || policy.budget >= .seconds(45))
            #expect(policy.stallLimit > policy.budget)
        }
        #expect(ReplayPolicy().budget == .seconds(45))
        // Where others take over after a while, no profile gives more.
        #expect(ReplayPolicy(timeout: .seconds(600)).budget(atMost: .seconds(45)) == .seconds(45))
        #expect(ReplayPolicy(timeout: .seconds(600)).budget(atMost: nil) == .seconds(900))
        #expect(ReplayPolicy().stallLimit == .seconds(60))
    }

    private func worldWithSecrets() async throws -> World {
        var registration = Sample.provider()
        registration.alternativeSecrets = [try ClientSecret("CANARY-second"), try ClientSecret("CANARY-third")]
        return try await World(provider: registration)
    }

    /// After a refusal that took its time, the other secrets are asked about in what is left.
    @Test func secretsAreTriedWithinTheSameBudget() async throws {
        let world = try await worldWithSecrets()
        let login = try await world.addChain()
        world.transport.fallback = ScriptedReply { request throws(HTTPTransportError) in
            try? await world.time.sleep(for: min(.seconds(20), request.timeout))
            return try await ScriptedReply.error("invalid_client", status: .unauthorized).reply(to: request)
        }
        world.expire()
        let start = world.time.uptime()
        let outcome = await world.withTimePassing {
            await code { try await world.users.accessToken(for: .login(login.id)) }
        }
        #expect(outcome == .providerMisconfigured)
        #expect(world.time.uptime() - start <= .seconds(45))
        #expect(world.transport.requests.map(\.path) == ["/token", "/revoke", "/revoke"])
        #expect(world.transport.requests.map(\.timeout) == [.seconds(30), .seconds(25), .seconds(5)])
        #expect(try await world.vault.login(login.id).failure == nil)
    }

    /// Two renewals of one provider share a trial; who came late to it does not wait for longer than its own time.
    @Test func whoWaitsForAnothersTrialKeepsToItsOwnBudget() async throws {
        let world = try await worldWithSecrets()
        let first = try await world.addChain()
        let second = try await world.addChain(user: "bob", name: "2")
        let context = world.users.context
        let provider = try await world.vault.store.provider(named: "acme")
        #expect(context.secretTrials.begin(provider.handle))
        world.transport.fallback = ScriptedReply { request throws(HTTPTransportError) in
            try? await world.time.sleep(for: .seconds(5))
            return try await ScriptedReply.error("invalid_client", status: .unauthorized).reply(to: request)
        }
        world.expire()
        @Sendable func wait(_ login: Login) async -> (VaultError.Code?, Duration) {
            let start = world.time.uptime()
            let outcome = await code { try await world.users.accessToken(for: .login(login.id)) }
            return (outcome, world.time.uptime() - start)
        }
        let outcomes = await world.withTimePassing {
            async let one = wait(first)
            async let other = wait(second)
            return await [one, other]
        }
        #expect(outcomes.map(\.0) == [.providerMisconfigured, .providerMisconfigured])
        #expect(outcomes.allSatisfy { $0.1 <= .seconds(45) })
        context.secretTrials.end(provider.handle, hasFound: false)
    }
}
