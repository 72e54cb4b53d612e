import EngineSupport
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVault
import TokenVaultTesting

/// Tokens that the app sets, at rest and while a renewal is under way.
@Suite(.tags(.everyEngine))
struct UpdateTests {
    @Test func renewNowRenewsWhateverIsLeft() async throws {
        let world = try await World()
        try await world.addChain()
        world.transport.enqueue(.generation("2"))
        #expect(try await world.users.updateAccessToken(userId: "alice").name == "2")
        #expect(world.transport.requestCount == 1)
    }

    // MARK: Expiry

    private func jwt(_ payload: String, header: String = #"{"alg":"RS256","typ":"at+jwt"}"#) throws -> AccessToken {
        try AccessToken("\(Base64URL.encode(header.utf8)).\(Base64URL.encode(payload.utf8)).c2ln")
    }

    @Test func aTokenThatIsAJWTSaysItselfWhenItExpires() async throws {
        let world = try await World()
        let login = try await world.addPlainLogin()
        let end = world.now.addingTimeInterval(7_200)
        let exp = Int(end.timeIntervalSince1970)
        let token = try jwt(#"{"sub":"alice","exp":\#(exp)}"#)
        let updated = try await world.users.updateAccessToken(userId: "alice", accessToken: token)
        #expect(updated.expiresAt == Date(timeIntervalSince1970: Double(exp)))
        #expect(updated.expirySource == .told)
        let sooner = world.now.addingTimeInterval(60)
        let given = try await world.users.updateAccessToken(userId: "alice", accessToken: token, expiresAt: sooner)
        #expect(given.expiresAt == sooner)
        #expect(RefreshedAccessToken(accessToken: token).expiresAt == Date(timeIntervalSince1970: Double(exp)))
        #expect(try await world.users.addLogin(userId: "bob", accessToken: token).expiresAt == updated.expiresAt)
        #expect(login.id == given.id)
    }

    @Test(arguments: [
        #"{"exp":"soon"}"#, #"{"exp":-1}"#, #"{"exp":99999999999999}"#, #"{"exp":null}"#, "[]", "{", #"{"sub":"a"}"#,
        #"{"exp":1e400}"#,
    ])
    func tokenWithoutUsableExpiryHasUnknownExpiry(payload: String) async throws {
        let world = try await World()
        try await world.addPlainLogin()
        let updated = try await world.users.updateAccessToken(userId: "alice", accessToken: jwt(payload))
        #expect(updated.expiresAt == nil)
        #expect(updated.expirySource == .unknown)
    }

    @Test(arguments: ["a.b.c", "eyJ.eyJ.", "..", "x", "e30.eyJleHAiOjF9.c2ln"])
    func aTokenThatIsNoJWTIsNoObstacle(text: String) async throws {
        let world = try await World()
        try await world.addPlainLogin()
        #expect(
            try await world.users.updateAccessToken(userId: "alice", accessToken: AccessToken(text)).expiresAt == nil)
    }

    @Test func renewNowRespectsABackoff() async throws {
        let world = try await World()
        try await world.addChain()
        world.transport.enqueue(.status(.tooManyRequests, headers: [.retryAfter: "60"]))
        #expect(await code { try await world.users.updateAccessToken(userId: "alice") } == .tryLater)
        #expect(await code { try await world.users.updateAccessToken(userId: "alice") } == .tryLater)
        #expect(world.transport.requestCount == 1)
        #expect(try await world.users.accessToken(userId: "alice").name == "1")
    }

    @Test func anAccessTokenAloneKeepsALivingChain() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let updated = try await world.users.updateAccessToken(
            for: .login(login.id), accessToken: Sample.accessToken("app"), expiresAt: world.now.addingTimeInterval(600))
        #expect(updated.isRefreshable)
        #expect(updated.generation == 2)
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "app")
        world.transport.enqueue(.generation("3"))
        world.expire()
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "3")
        #expect(world.transport.requests.last?.form["refresh_token"] == "CANARY-refresh-1")
    }

    @Test func anAccessTokenLiftsAPostponement() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(.status(.tooManyRequests, headers: [.retryAfter: "3000"]), .generation("3"))
        _ = try? await world.users.accessToken(for: .login(login.id), .renewed)
        await #expect(try world.vault.login(login.id).notBefore != nil)
        try await world.users.updateAccessToken(
            for: .login(login.id), accessToken: Sample.accessToken("app"), expiresAt: world.now.addingTimeInterval(10))
        await #expect(try world.vault.login(login.id).notBefore == nil)
        world.time.advance(by: .seconds(20))
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "3")
    }

    @Test func aNeedForTheUserIsLiftedByANewToken() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(.error("login_required"), .generation("3"))
        #expect(
            await code { try await world.users.accessToken(for: .login(login.id), .renewed) } == .needsUserInteraction)
        let stored = try await world.vault.login(login.id)
        #expect(stored.failure == nil)
        #expect(stored.isRefreshable)
        // The grant is not dead, so the valid token serves; but nothing is sent.
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "1")
        world.expire()
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .needsUserInteraction)
        #expect(world.transport.requestCount == 1)
        try await world.users.updateAccessToken(
            for: .login(login.id), accessToken: Sample.accessToken("2"), expiresAt: world.now.addingTimeInterval(10))
        world.expire()
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "3")
    }

    @Test func replyIsKeptWhenTheAppSetsATokenMeanwhile() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let gate = Gate()
        world.transport.enqueue(.generation("2").behind(gate), .generation("3"))
        world.expire()
        let caller = Task { try await world.users.accessToken(for: .login(login.id)).name }
        await world.transport.waitForRequests(1)
        try await world.users.updateAccessToken(
            for: .login(login.id), accessToken: Sample.accessToken("app"),
            expiresAt: world.now.addingTimeInterval(3_600))
        gate.open()
        #expect(try await caller.value == "2")
        // The chain goes on with the refresh token of that reply.
        _ = try await world.users.accessToken(for: .login(login.id), .renewed)
        #expect(world.transport.requests.last?.form["refresh_token"] == "CANARY-refresh-2")
    }

    @Test func refusalDoesNotFlagTheTokenTheAppSetMeanwhile() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let gate = Gate()
        world.transport.enqueue(.error("invalid_grant").behind(gate))
        world.expire()
        let caller = Task { try await world.users.accessToken(for: .login(login.id)).name }
        await world.transport.waitForRequests(1)
        try await world.users.updateAccessToken(
            for: .login(login.id), accessToken: Sample.accessToken("app"),
            expiresAt: world.now.addingTimeInterval(3_600))
        gate.open()
        #expect(try await caller.value == "app")
        #expect(try await world.vault.login(login.id).failure == nil)
    }

    @Test func theReplyToARenewalOfAReplacedChainIsRevoked() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let gate = Gate()
        world.transport.enqueue(.generation("late").behind(gate))
        world.transport.fallback = .status(.ok)
        world.expire()
        let caller = Task { try await world.users.accessToken(for: .login(login.id)).name }
        await world.transport.waitForRequests(1)
        try await world.users.updateAccessToken(
            for: .login(login.id), accessToken: Sample.accessToken("new"),
            expiresAt: world.now.addingTimeInterval(3_600), refreshToken: Sample.refreshToken("new"))
        gate.open()
        #expect(try await caller.value == "new")
        await world.transport.waitForRequests(2)
        #expect(world.transport.requests.last?.path == "/revoke")
        #expect(world.transport.requests.last?.form["token"] == "CANARY-refresh-late")
    }

    @Test func aReportAboutATokenThatTheAppReplacedDoesNothing() async throws {
        let world = try await World()
        try await world.addChain()
        let old = try await world.users.accessToken(userId: "alice")
        try await world.users.updateAccessToken(
            userId: "alice", accessToken: Sample.accessToken("new"), expiresAt: nil,
            refreshToken: Sample.refreshToken("new"))
        try await world.users.reportRejected(old)
        #expect(try await world.users.accessToken(userId: "alice").name == "new")
        #expect(world.transport.requestCount == 0)
    }
}
