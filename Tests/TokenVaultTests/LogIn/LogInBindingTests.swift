import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVault
import TokenVaultTesting

/// A log-in ends in the browser in which it began (RFC 9700 §4.7).
struct LogInBindingTests {
    private func callback(_ request: AuthorizationRequest) -> String {
        "https://app.example/callback?code=CANARY-code&state=\(request.state)"
    }

    /// Mallory begins a log-in for his own account and sends Alice its URL; Alice consents, and her browser brings the
    /// callback. It has no binding, or one of a log-in of her own.
    @Test func aVictimsConsentDoesNotGoToTheAttackersAccount() async throws {
        let world = try await World()
        let mallorys = try await world.users.beginLogIn(LogInRequest(userId: "mallory", provider: "acme"))
        let alices = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        for cookie in [alices.binding, .random()] {
            #expect(
                await code { try await world.users.completeLogIn(.url(callback(mallorys)), boundTo: cookie) }
                    == .logInNotBound)
        }
        #expect(
            await code {
                try await world.users.completeLogIn(
                    .parameters(state: mallorys.state, code: AuthorizationCode("CANARY-code")), boundTo: alices.binding)
            } == .logInNotBound)
        // Nothing was sent and nobody has Alice's tokens.
        #expect(world.transport.requestCount == 0)
        #expect(await code { try await world.vault.user("mallory") } == .unknownUser)
        #expect(await code { try await world.vault.user("alice") } == .unknownUser)
        // Her own log-in is unharmed, and so is his.
        world.transport.enqueue(.generation("1"), .generation("2"))
        let own = try await world.users.completeLogIn(.url(callback(alices)), boundTo: alices.binding)
        #expect(own.login.userId == "alice")
        let his = try await world.users.completeLogIn(.url(callback(mallorys)), boundTo: mallorys.binding)
        #expect(his.login.userId == "mallory")
    }

    @Test func aCallbackInAnotherUsersSessionIsRefused() async throws {
        let world = try await World()
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        #expect(
            await code {
                try await world.users.completeLogIn(
                    .url(callback(request)), boundTo: request.binding, expectedUserId: "bob")
            } == .logInNotBound)
        world.transport.enqueue(.generation("1"))
        let done = try await world.users.completeLogIn(
            .url(callback(request)), boundTo: request.binding, expectedUserId: "alice")
        #expect(done.login.userId == "alice")
    }

    @Test func aCookieThatWentThroughTextStillBinds() async throws {
        let world = try await World()
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        #expect(request.binding.reveal().utf8.count == 43)
        let cookie = try BrowserBinding(request.binding.reveal())
        world.transport.enqueue(.generation("1"))
        _ = try await world.users.completeLogIn(.url(callback(request)), boundTo: cookie)
    }

    @Test func twoLogInsHaveTwoBindings() async throws {
        let world = try await World()
        let one = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        let other = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        #expect(one.binding != other.binding)
        #expect(!one.url.contains(one.binding.reveal()))
    }

    @Test func theUnboundFormSaysSo() async throws {
        let world = try await World()
        let request = try await world.users.beginLogIn(
            LogInRequest(userId: "alice", provider: "acme", context: ["returnTo": "/calendar"]))
        world.transport.enqueue(.generation("1"))
        let done = try await world.users.completeUnboundLogIn(.url(callback(request)))
        #expect(done.login.userId == "alice")
        #expect(done.context == ["returnTo": "/calendar"])
        let second = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        world.transport.enqueue(.generation("2"))
        let code = try AuthorizationCode("CANARY-code")
        #expect(
            try await world.users.completeUnboundLogIn(.parameters(state: second.state, code: code)).context.isEmpty)
    }

    @Test func whatWasNotSentStaysBound() async throws {
        let world = try await World()
        let request = try await world.users.beginLogIn(
            LogInRequest(userId: "alice", provider: "acme", context: ["returnTo": "/calendar"]))
        let url = callback(request)
        #expect(
            await code { try await world.users.completeLogIn(.url(url), boundTo: request.binding) } == .network)
        #expect(
            await code { try await world.users.completeLogIn(.url(url), boundTo: .random()) }
                == .logInNotBound)
        world.transport.enqueue(.generation("1"))
        let done = try await world.users.completeLogIn(.url(url), boundTo: request.binding)
        #expect(done.context == ["returnTo": "/calendar"])
    }

    @Test func aContextHasBounds() async throws {
        let world = try await World()
        let contexts = [
            Dictionary(uniqueKeysWithValues: (0...16).map { ("k\($0)", "") }),
            ["k": String(repeating: "x", count: 1_025)], [String(repeating: "k", count: 65): ""],
        ]
        for context in contexts {
            #expect(
                await code {
                    try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme", context: context))
                }
                    == .invalidArgument)
        }
    }
}
