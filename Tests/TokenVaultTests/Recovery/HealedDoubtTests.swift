import EngineSupport
import FoundationEssentials
import HTTPTypes
import OAuthClient
import TestSupport
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultStorage

@testable import TokenVault

/// A doubt that has passed no longer explains how a login ends.
@Suite(.tags(.everyEngine))
struct HealedDoubtTests {
    private func answer(_ users: UserManager, _ token: VaultToken, _ status: HTTPResponse.Status) async throws {
        var request = HTTPRequest(method: .get, scheme: "https", authority: "api.example", path: "/me")
        try await users.authorize(&request, with: token)
        await users.read(HTTPResponse(status: status), to: request, authorizedWith: token)
    }

    /// A process was killed in the middle of a renewal, and this one has sent the same refresh token again.
    private func replayed(_ world: World, lifetime: Int = 3_600) async throws -> (Login, VaultToken) {
        let login = try await world.addChain()
        try await world.leaveIntent(login)
        world.expire()
        world.transport.enqueue(.generation("2", expiresIn: lifetime))
        let token = try await world.withTimePassing { try await world.users.accessToken(for: .login(login.id)) }
        await #expect(try world.tale().contains("renewed after=doubt"))
        return (login, token)
    }

    /// How the login ends when the provider then ends its grant.
    private func end(_ world: World, _ login: Login) async throws -> VaultError.Code? {
        world.transport.enqueue(.error("invalid_grant"))
        return await code { try await world.users.accessToken(for: .login(login.id), .renewed) }
    }

    @Test func anAcceptedTokenMakesALaterEndARefusal() async throws {
        let world = try await World()
        let (login, token) = try await replayed(world)
        for _ in 0..<50 { try await answer(world.users, token, .ok) }
        try await eventually { try await !world.stored(login).session.cameAfterDoubt }
        #expect(try await end(world, login) == .refreshFailed)
        #expect(try await world.vault.login(login.id).failure?.reason == .deadGrant)
        await #expect(try world.tale().contains("loginDead reason=deadGrant answer=400 invalid_grant"))
        #expect(!world.logs.text.contains("lateArrivalSuspected"))
        #expect(try await world.vault.verify().isClean)
    }

    /// The process that renewed is not the one that calls the API.
    @Test func anotherProcessMayBeTheOneToSeeIt() async throws {
        let world = try await World()
        let (login, _) = try await replayed(world)
        let other = try await world.anotherProcess()
        let token = try await other.users.accessToken(for: .login(login.id))
        try await answer(other.users, token, .ok)
        try await eventually { try await !world.stored(login).session.cameAfterDoubt }
        #expect(try await end(world, login) == .refreshFailed)
        await other.vault.close()
    }

    @Test(arguments: [HTTPResponse.Status.unauthorized, .forbidden, .internalServerError])
    func aTokenThatIsNotAcceptedProvesNothing(_ status: HTTPResponse.Status) async throws {
        let world = try await World()
        let (login, token) = try await replayed(world)
        try await answer(world.users, token, status)
        await world.time.waitForRest()
        #expect(try await end(world, login) == .lostResponse)
        #expect(try await world.vault.login(login.id).failure?.reason == .lostResponse)
    }

    /// The token before the doubt, from a task that still has it, says nothing about the new one.
    @Test func theFormerTokenProvesNothing() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let former = try await world.users.accessToken(for: .login(login.id))
        try await world.leaveIntent(login)
        world.expire()
        world.transport.enqueue(.generation("2"))
        _ = try await world.withTimePassing { try await world.users.accessToken(for: .login(login.id)) }
        try await answer(world.users, former, .ok)
        await world.time.waitForRest()
        #expect(try await end(world, login) == .lostResponse)
    }

    /// A scheduler would use the refresh token while the earlier request may still arrive.
    @Test func shortTokensStillRest() async throws {
        let world = try await World()
        let (login, token) = try await replayed(world, lifetime: 20)
        let due = try await world.stored(login).nextDue
        try await answer(world.users, token, .ok)
        try await eventually { try await world.tale().last == "renewalProven" }
        await #expect(try world.stored(login).nextDue == due)
        await #expect(try world.stored(login).session.cameAfterDoubt)
    }
}
