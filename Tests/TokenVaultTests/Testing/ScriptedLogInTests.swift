import FoundationEssentials
import OAuthClient
import Testing
import TokenVault
import TokenVaultTesting

/// A log-in in a test: two lines, at every kind of provider.
struct ScriptedLogInTests {
    private func makeUsers(_ time: ManualTimeSource, _ reply: ScriptedReply) async throws -> (
        TemporaryVault, ScriptedTransport, UserManager
    ) {
        let temporary = try await TemporaryVault(in: .memory, timeSource: time)
        let transport = ScriptedTransport()
        transport.fallback = reply
        let users = try await UserManager(vault: temporary.vault, transport: transport, options: .deterministic)
        return (temporary, transport, users)
    }

    @Test(arguments: ["acme", "other", "bound", "named"])
    func aCallbackCompletesALogIn(at name: String) async throws {
        let provider: ProviderRegistration =
            switch name {
            case "other": Sample.otherProvider()
            case "bound": Sample.boundProvider()
            case "named": Sample.provider(name: name, namesIssuer: true)
            default: Sample.provider()
            }
        let (temporary, transport, users) = try await makeUsers(
            ManualTimeSource(), .freshTokens(tokenType: name == "bound" ? "DPoP" : "Bearer"))
        try await temporary.vault.addProvider(provider)

        let begun = try await users.beginLogIn(LogInRequest(userId: "alice", provider: name))
        let done = try await users.completeLogIn(.url(transport.callback(for: begun)), boundTo: begun.binding)

        #expect(done.login.provider == name)
        #expect(done.login.isDPoPBound == (name == "bound"))
        #expect(transport.requests.first?.form["code"] == "CANARY-code")
        #expect(transport.requests.first?.form["redirect_uri"] == provider.redirectURI?.rawValue)
        #expect(transport.callback(for: begun).contains("iss=https%3A%2F%2Fnamed.example") == (name == "named"))
        #expect(try await users.accessToken(userId: "alice").login == done.login.id)
    }

    /// Where the request was pushed, the URL names neither the redirect URI nor the state.
    @Test func aPushedRequestHasACallbackToo() async throws {
        var provider = Sample.provider()
        provider.pushedAuthorizationEndpoint = try EndpointURL("https://acme.example/par")
        provider.requiresPushedRequests = true
        let (temporary, transport, users) = try await makeUsers(ManualTimeSource(), .freshTokens())
        try await temporary.vault.addProvider(provider)
        transport.enqueue(.json(#"{"request_uri":"urn:example:1","expires_in":60}"#, status: .created))
        let begun = try await users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        #expect(!begun.url.contains(begun.state))
        let done = try await users.completeLogIn(.url(transport.callback(for: begun)), boundTo: begun.binding)
        #expect(done.login.userId == "alice")
    }

    /// Task 12 of the cookbook.
    @Test func aLostReplyCostsNoLogin() async throws {
        let time = ManualTimeSource()
        let (temporary, transport, users) = try await makeUsers(time, .freshTokens())
        try await temporary.vault.addProvider(Sample.provider())
        let begun = try await users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        let done = try await users.completeLogIn(.url(transport.callback(for: begun)), boundTo: begun.binding)
        transport.simulate(.lostReply, times: 1)
        let token = try await time.passing { try await users.accessToken(for: .login(done.login.id), .renewed) }
        #expect(token.generation == 2)
    }

    @Test func aRefusalIsOne() async throws {
        let (temporary, transport, users) = try await makeUsers(ManualTimeSource(), .freshTokens())
        try await temporary.vault.addProvider(Sample.provider())
        let begun = try await users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        let outcome = await code {
            try await users.completeLogIn(.url(transport.refusal(of: begun)), boundTo: begun.binding)
        }
        #expect(outcome == .logInRefused)
        #expect(transport.requestCount == 0)
    }

    @Test(
        arguments: [
            "", "acme", "Acme Corp", "a\nb", "über/../?#@:", "-", String(repeating: "x", count: 100_000),
            "\u{1D}t\u{1D}p",
        ])
    func aSampleIsValidWhateverItsName(_ name: String) throws {
        #expect(Sample.accessToken(name).reveal().hasPrefix("CANARY-access-"))
        #expect(Sample.refreshToken(name).reveal().hasPrefix("CANARY-refresh-"))
        let provider = Sample.provider(name: name)
        #expect(provider.name == name)
        #expect(provider.tokenEndpoint.rawValue.hasSuffix(".example/token"))
        #expect(provider.redirectURI != nil)
    }
}
