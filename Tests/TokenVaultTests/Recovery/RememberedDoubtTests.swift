import EngineSupport
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVault
import TokenVaultTesting

/// What must not make a login forget that its refresh token may be spent: else a loss of ours is blamed on the grant.
@Suite(.tags(.everyEngine))
struct RememberedDoubtTests {
    /// The server has seen the token, and perhaps spent it, before it asked for a nonce.
    private let challenge = ScriptedReply.error(
        "use_dpop_nonce", headers: [.dpopNonce: "fresh"])

    private func failure(_ world: World, _ login: Login) async throws -> RefreshFailure.Reason? {
        try await world.vault.login(login.id).failure?.reason
    }

    @Test(arguments: ["invalid_client", "interaction_required"])
    func aRefusalAfterAChallengeLeavesTheTokenInDoubt(error: String) async throws {
        let world = try await World()
        let login = try await world.addChain(dpopKey: DPoPKey.generate())
        world.transport.enqueue(challenge, .error(error, status: .unauthorized))
        world.expire()
        _ = await world.withTimePassing { await code { try await world.users.accessToken(for: .login(login.id)) } }
        await #expect(try world.vault.login(login.id).isInDoubt)

        // What the app sets lifts the obstacle, not the doubt.
        try await world.users.updateAccessToken(
            for: .login(login.id), accessToken: Sample.accessToken("set"), expiresAt: world.now.addingTimeInterval(60))
        world.transport.enqueue(.error("invalid_grant"))
        world.time.advance(by: .seconds(3_600))
        _ = await world.withTimePassing { await code { try await world.users.accessToken(for: .login(login.id)) } }
        await #expect(try failure(world, login) == .lostResponse)
    }

    @Test func appTokenDuringARefusalLeavesTheOldOneInDoubt() async throws {
        let world = try await World()
        let login = try await world.addChain(dpopKey: DPoPKey.generate())
        let gate = Gate()
        world.transport.enqueue(challenge, ScriptedReply.error("invalid_grant").behind(gate))
        world.expire()
        async let renewal = world.withTimePassing {
            await code { try await world.users.accessToken(for: .login(login.id)) }
        }
        await world.transport.waitForRequests(2)
        try await world.users.updateAccessToken(
            for: .login(login.id), accessToken: Sample.accessToken("set"), expiresAt: world.now.addingTimeInterval(60))
        gate.open()
        _ = await renewal
        await #expect(try failure(world, login) == nil)

        world.transport.enqueue(.error("invalid_grant"))
        world.time.advance(by: .seconds(3_600))
        _ = await world.withTimePassing { await code { try await world.users.accessToken(for: .login(login.id)) } }
        await #expect(try failure(world, login) == .lostResponse)
    }
}
