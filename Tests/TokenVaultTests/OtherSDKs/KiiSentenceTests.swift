import EngineSupport
import FoundationEssentials
import HTTPTypes
import OAuthClient
import TestSupport
import Testing
import TokenVault
import TokenVaultTesting

/// What Kii's SDK says, sentence by sentence: the table in docs/from-other-sdks.md has the same ones.
struct KiiSentenceTests {
    @Test("less than 5 minutes left: automatically starts getting a new one")
    func aCallRenewsBelowFiveMinutes() async throws {
        let world = try await World()
        try await world.addChain()
        world.transport.enqueue(.generation("2"))
        world.time.advance(by: .seconds(3_300))
        #expect(try await world.users.accessToken(userId: "alice").name == "1")
        world.time.advance(by: .seconds(1))
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
    }

    @Test("a refresh token comes with the access token at login, and is saved automatically")
    func bothTokensOfALogInAreSaved() async throws {
        let world = try await World()
        world.transport.enqueue(.generation("1"))
        _ = try await world.users.logIn(
            LogInRequest(userId: "alice", provider: "acme"), authorizationCode: AuthorizationCode("code"),
            codeVerifier: CodeVerifier.random())
        await world.vault.close()
        let later = try await world.anotherProcess()
        #expect(try await later.users.accessToken(userId: "alice").name == "1")
        world.transport.enqueue(.generation("2"))
        world.expire()
        #expect(try await later.users.accessToken(userId: "alice").name == "2")
    }

    @Test("a refresh token is re-issued, the old one is invalidated, and each is usable once")
    func eachRefreshTokenIsSentOnce() async throws {
        let world = try await World()
        try await world.addChain()
        for name in ["2", "3"] {
            world.transport.enqueue(.generation(name))
            world.expire()
            await withTaskGroup(of: String?.self) { group in
                for _ in 0..<200 { group.addTask { try? await world.users.accessToken(userId: "alice").name } }
                for await got in group { #expect(got == name) }
            }
        }
        let sent = world.transport.requests.map { $0.form["refresh_token"] }
        #expect(sent == ["1", "2"].map { Sample.marker + "refresh-" + $0 })
    }

    @Test("not for pseudo users, and not for given tokens")
    func aGivenTokenIsNotRefreshed() async throws {
        let world = try await World()
        try await world.addPlainLogin()
        world.expire()
        await #expect {
            _ = try await world.users.accessToken(userId: "alice")
        } throws: { error in
            guard let error = error as? VaultError else { return false }
            return error.code == .notRefreshable && error.hint != nil
        }
        #expect(world.transport.requestCount == 0)
    }

    @Test("A1 becomes A2 while B stays valid, and each is refreshed at its own intervals")
    func eachLoginHasItsOwnChain() async throws {
        let world = try await World()
        let first = try await world.addChain(name: "A1")
        let second = try await world.addChain(name: "B1", lifetime: .seconds(7_200))
        world.transport.enqueue(.generation("A2", expiresIn: 36_000))
        world.expire()
        #expect(try await world.users.accessToken(for: .login(first.id)).name == "A2")
        #expect(try await world.users.accessToken(for: .login(second.id)).name == "B1")
        world.transport.enqueue(.generation("B2"))
        world.expire()
        #expect(try await world.users.accessToken(for: .login(first.id)).name == "A2")
        #expect(try await world.users.accessToken(for: .login(second.id)).name == "B2")
    }

    @Test("tokens are invalidated when the user is disabled")
    func disablingAUserEndsTheTokens() async throws {
        let world = try await World()
        try await world.addChain()
        world.transport.fallback = .status(.ok)
        try await world.users.disableUser("alice")
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .userDisabled)
        #expect(world.transport.requests.map(\.path) == ["/revoke"])
        #expect(world.transport.requests.first?.form["token"] == Sample.marker + "refresh-1")
    }

    @Test("expired when you execute an API: it is executed with a new one")
    func aRequestGetsANewToken() async throws {
        let world = try await World()
        try await world.addChain()
        world.transport.enqueue(.generation("2"))
        world.expire()
        let request = HTTPRequest(method: .get, scheme: "https", authority: "api.example", path: "/me")
        let authorized = try await world.users.authorize(request, for: .user("alice"))
        #expect(authorized.request.headerFields[.authorization] == "Bearer \(Sample.marker)access-2")
    }

    @Test("an app that fails to receive the new refresh token can no longer refresh", arguments: [false, true])
    func aLostReplyIsReplayedOnce(_ hasGrace: Bool) async throws {
        let world = try await World(provider: World.provider(refresh: #"{"rotation":"always"}"#))
        try await world.addChain()
        // A server with a grace period gives the same answer again. A strict one says that the token was used.
        world.transport.enqueue(
            .failure(.maybeSent, .reset), hasGrace ? .generation("2") : .error("invalid_grant"))
        world.expire()
        let failure = await world.withTimePassing {
            await code { try await world.users.accessToken(userId: "alice") }
        }
        #expect(failure == (hasGrace ? nil : .lostResponse))
        let sent = world.transport.requests.map { $0.form["refresh_token"] }
        #expect(sent == Array(repeating: Sample.marker + "refresh-1", count: 2))
        #expect(await code { try await world.users.accessToken(userId: "alice") } == failure)
        #expect(world.transport.requestCount == 2)
    }

    @Test("throws codeRefreshTokenFailed")
    func aRefusedRefreshThrowsItsOwnCode() async throws {
        let world = try await World()
        try await world.addChain()
        world.transport.enqueue(.error("invalid_grant"))
        world.expire()
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .refreshFailed)
    }

    /// The login is still there and says why; `notLoggedIn` means that there is none.
    @Test("the user will be in the logout state", .tags(.differs))
    func aDeadLoginSaysWhyItEnded() async throws {
        let world = try await World()
        let login = try await world.addChain()
        try await world.kill(login)
        world.expire()
        let failure = try #require(try await world.vault.login(login.id).failure)
        #expect(failure.reason == .deadGrant)
        await #expect(try world.users.sessionState(of: .user("alice")) == .tokenExpired(failure))
    }

    @Test("the application need not be aware of it")
    func oneCallIsAllThatAnAppNeeds() async throws {
        let world = try await World()
        try await world.addChain()
        world.transport.fallback = .freshTokens()
        for _ in 0..<5 {
            world.expire()
            let token = try await world.users.accessToken(userId: "alice")
            let isGood = token.expiresAt.map { $0 > world.now }
            #expect(isGood == true)
        }
        #expect(world.transport.requestCount == 5)
    }

    @Test("the token could be disabled: implement a re-login")
    func theUserLogsInAgainIntoTheSameLogin() async throws {
        let world = try await World()
        let login = try await world.addChain()
        try await world.kill(login)
        let request = try await world.users.beginLogIn(LogInRequest(into: .login(login.id)))
        world.transport.enqueue(.generation("2"))
        let done = try await world.users.completeLogIn(
            .url("https://app.example/callback?code=code&state=\(request.state)"), boundTo: request.binding)
        #expect(done.login.id == login.id)
        await #expect(try world.users.sessionState(of: .user("alice")) == .established)
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "2")
    }
}
