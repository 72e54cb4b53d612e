import EngineSupport
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVault
import TokenVaultTesting
import VaultCrypto
import VaultStorage

/// How long the refresh token before the current one is kept, and what for.
@Suite(.tags(.everyEngine))
struct ProofTests {
    private func previous(_ world: World, _ login: Login) async throws -> String? {
        try await world.stored(login).refresh?.previousRefresh?.string()
    }

    /// A login that has just been renewed.
    private func renewed(_ world: World) async throws -> (Login, VaultToken) {
        let login = try await world.addChain()
        world.transport.enqueue(.generation("2"))
        let token = try await world.users.accessToken(for: .login(login.id), .renewed)
        await #expect(try previous(world, login) == "CANARY-refresh-1")
        return (login, token)
    }

    private func answer(_ world: World, _ token: VaultToken, _ status: HTTPResponse.Status) async throws {
        var request = HTTPRequest(method: .get, scheme: "https", authority: "api.example", path: "/me")
        try await world.users.authorize(&request, with: token)
        await world.users.read(HTTPResponse(status: status), to: request, authorizedWith: token)
    }

    @Test func aTokenThatAResourceServerTakesProvesTheRenewal() async throws {
        let world = try await World()
        let (login, token) = try await renewed(world)
        for status in [HTTPResponse.Status.unauthorized, .forbidden, .internalServerError] {
            try await answer(world, token, status)
        }
        try await world.users.recover()
        await #expect(try previous(world, login) == "CANARY-refresh-1")
        try await answer(world, token, .ok)
        while try await previous(world, login) != nil, !Task.isCancelled { await Task.yield() }
        await #expect(try world.tale().last == "renewalProven")
        await #expect(try world.stored(login).refresh?.refreshToken?.string() == "CANARY-refresh-2")
        // Once is enough.
        let rows = try await world.tale().count
        try await answer(world, token, .ok)
        try await world.users.recover()
        await #expect(try world.tale().count == rows)
    }

    @Test func theTokensThatWereRenewedLastAreKnownAsSpent() async throws {
        let world = try await World()
        let login = try await world.addChain()
        func spentBy(_ number: Int) async throws -> LoginID? {
            try await world.vault.login(
                knowing: RefreshToken("CANARY-refresh-\(number)"), ofUser: "alice", at: "acme", otherThan: login.id
            ).flatMap { $0.hasSpentIt ? $0.login : nil }
        }
        for number in 2...19 {
            world.transport.enqueue(.generation("\(number)"))
            _ = try await world.users.accessToken(for: .login(login.id), .renewed)
        }
        for number in [1, 2, 19] { #expect(try await spentBy(number) == nil) }
        for number in 3...18 { #expect(try await spentBy(number) == login.id) }
        // Tokens that are put in by hand, and a server that gives one again.
        try await world.users.updateAccessToken(
            for: .login(login.id), accessToken: AccessToken("x"), refreshToken: RefreshToken("CANARY-refresh-by-hand"))
        world.transport.enqueue(.generation("10"))
        _ = try await world.users.accessToken(for: .login(login.id), .renewed)
        #expect(try await spentBy(10) == nil)
        #expect(try await spentBy(18) == login.id)
        let token = try RefreshToken("CANARY-refresh-by-hand")
        #expect(try await world.vault.login(knowing: token, ofUser: "alice", at: "acme")?.hasSpentIt == true)
    }

    @Test func theNextRenewalProvesItToo() async throws {
        let world = try await World()
        let (login, _) = try await renewed(world)
        world.transport.enqueue(.generation("3"))
        _ = try await world.users.accessToken(for: .login(login.id), .renewed)
        await #expect(try previous(world, login) == "CANARY-refresh-2")
        world.transport.enqueue(.tokens(accessToken: "CANARY-access-4"))
        _ = try await world.users.accessToken(for: .login(login.id), .renewed)
        // The same token went on: there is nothing to fall back on.
        await #expect(try previous(world, login) == nil)
        await #expect(try world.stored(login).refresh?.refreshToken?.string() == "CANARY-refresh-3")
    }

    @Test func afterADayItIsErased() async throws {
        let world = try await World()
        let (login, _) = try await renewed(world)
        world.time.advance(by: .seconds(86_400))
        try await world.users.recover()
        await #expect(try previous(world, login) == "CANARY-refresh-1")
        world.time.advance(by: .seconds(1))
        try await world.users.recover()
        await #expect(try previous(world, login) == nil)
    }

    @Test func whereReuseCountsAsTheftTheOldTokenIsLeftAlone() async throws {
        let world = try await World()
        let (login, _) = try await renewed(world)
        world.transport.fallback = .error("invalid_grant")
        #expect(await code { try await world.users.accessToken(for: .login(login.id), .renewed) } == .refreshFailed)
        #expect(world.transport.requestCount == 2)
    }

    @Test(arguments: [false, true])
    func whereReuseIsForgivenTheOldTokenIsTriedOnce(works: Bool) async throws {
        let world = try await World(provider: World.provider(refresh: #"{"rotation":"always","reuseBlast":"none"}"#))
        let (login, _) = try await renewed(world)
        world.transport.enqueue(.error("invalid_grant"), works ? .generation("3") : .error("invalid_grant"))
        let code = await code { try await world.users.accessToken(for: .login(login.id), .renewed) }
        #expect(code == (works ? nil : .refreshFailed))
        #expect(
            world.transport.requests.compactMap { $0.form["refresh_token"] }
                == ["CANARY-refresh-1", "CANARY-refresh-2", "CANARY-refresh-1"])
        #expect(try await world.vault.login(login.id).failure?.reason == (works ? nil : .deadGrant))
    }

    @Test func anOldTokenOfYesterdayIsNotTried() async throws {
        let world = try await World(provider: World.provider(refresh: #"{"rotation":"always","reuseBlast":"none"}"#))
        let (login, _) = try await renewed(world)
        world.time.advance(by: .seconds(86_401))
        world.transport.fallback = .error("invalid_grant")
        #expect(await code { try await world.users.accessToken(for: .login(login.id), .renewed) } == .refreshFailed)
        #expect(world.transport.requestCount == 2)
    }
}
