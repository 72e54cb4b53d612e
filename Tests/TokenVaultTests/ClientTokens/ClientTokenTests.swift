import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVaultTesting

@testable import TokenVault

/// Access tokens of the client itself (RFC 6749 §4.4).
struct ClientTokenTests {
    private func reply(_ name: String, expiresIn: Int? = 3_600, tokenType: String = "Bearer") -> ScriptedReply {
        .tokens(accessToken: Sample.marker + "access-" + name, expiresIn: expiresIn, tokenType: tokenType)
    }

    @Test func manyCallersShareOneRequestWithTheSealedSecret() async throws {
        let world = try await World()
        let gate = Gate()
        world.transport.enqueue(reply("c1").behind(gate))
        let request = TokenRequest(scope: try Scope("invoice.read"))
        let names = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 {
                group.addTask { try await world.users.clientToken(provider: "acme", request).name }
            }
            await world.transport.waitForRequests(1)
            gate.open()
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(names == ["c1"])
        #expect(world.transport.requestCount == 1)
        let sent = try #require(world.transport.requests.first)
        #expect(sent.form["grant_type"] == "client_credentials")
        #expect(sent.form["scope"] == "invoice.read")
        #expect(sent.request.headerFields[.authorization]?.hasPrefix("Basic ") == true)
        #expect(try await world.users.clientToken(provider: "acme", request).scope?.description == "invoice.read")
        #expect(world.transport.requestCount == 1)
    }

    @Test func eachScopeResourceAndParameterHasATokenOfItsOwn() async throws {
        let world = try await World()
        world.transport.fallback = .freshTokens()
        let api = "https://api.example"
        let requests = try [
            TokenRequest(), TokenRequest(scope: Scope("a b")), TokenRequest(resource: api),
            TokenRequest(resource: api, scope: Scope("a b")),
        ]
        var names: Set<String> = []
        for request in requests {
            names.insert(try await world.users.clientToken(provider: "acme", request).name)
            names.insert(
                try await world.users.clientToken(
                    provider: "acme", request, parameters: [FormParameter("audience", "x")]
                ).name)
        }
        #expect(names.count == 8)
        // The order of a scope's words says nothing.
        names.insert(try await world.users.clientToken(provider: "acme", TokenRequest(scope: Scope("b a"))).name)
        #expect(names.count == 8)
        #expect(world.transport.requestCount == 8)
        #expect(world.transport.requests[5].form["resource"] == api)
        #expect(world.transport.requests[5].form["audience"] == "x")
    }

    @Test func aTokenIsFetchedAnewBeforeItExpires() async throws {
        let world = try await World()
        world.transport.enqueue(reply("c1"), reply("c2"))
        #expect(try await world.users.clientToken(provider: "acme").name == "c1")
        world.time.advance(by: .seconds(3_299))
        #expect(try await world.users.clientToken(provider: "acme").name == "c1")
        world.time.advance(by: .seconds(2))
        #expect(try await world.users.clientToken(provider: "acme").name == "c2")
        #expect(world.transport.requestCount == 2)
    }

    @Test func theOldTokenIsStillGoodIfNoNewOneComes() async throws {
        let world = try await World()
        world.transport.enqueue(reply("c1"), .status(.serviceUnavailable), reply("c2"))
        _ = try await world.users.clientToken(provider: "acme")
        world.time.advance(by: .seconds(3_400))
        #expect(try await world.users.clientToken(provider: "acme").name == "c1")
        // The pause after a failure is kept.
        #expect(try await world.users.clientToken(provider: "acme").name == "c1")
        #expect(world.transport.requestCount == 2)
        world.time.advance(by: .seconds(2))
        #expect(try await world.users.clientToken(provider: "acme").name == "c2")
    }

    @Test func whatTheServerAsksForIsWaitedFor() async throws {
        let world = try await World()
        world.transport.enqueue(.status(.tooManyRequests, headers: [.retryAfter: "120"]), reply("c1"))
        #expect(await code { try await world.users.clientToken(provider: "acme") } == .tryLater)
        world.time.advance(by: .seconds(60))
        do {
            _ = try await world.users.clientToken(provider: "acme")
            Issue.record("a token during the pause")
        } catch let error as VaultError {
            #expect(error.code == .tryLater)
            #expect(try #require(error.retryAfter) > .seconds(59))
        }
        #expect(world.transport.requestCount == 1)
        world.time.advance(by: .seconds(80))
        #expect(try await world.users.clientToken(provider: "acme").name == "c1")
    }

    @Test func refusedClientOpensTheBreakerForItsLogins() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(.error("invalid_client", status: .unauthorized))
        #expect(await code { try await world.users.clientToken(provider: "acme") } == .providerMisconfigured)
        #expect(await code { try await world.users.clientToken(provider: "acme") } == .providerMisconfigured)
        #expect(
            await code { try await world.users.accessToken(for: .login(login.id), .renewed) } == .providerMisconfigured)
        #expect(world.transport.requestCount == 1)
        // And a client that is taken again closes it.
        world.time.advance(by: .seconds(31))
        world.transport.enqueue(reply("c1"), .generation("2"))
        #expect(try await world.users.clientToken(provider: "acme").name == "c1")
        #expect(try await world.users.accessToken(for: .login(login.id), .renewed).name == "2")
    }

    @Test(arguments: ["invalid_scope", "invalid_target", "unsupported_grant_type", "unauthorized_client"])
    func aRefusedRequestIsNoMatterOfTheLogins(error: String) async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.fallback = .error(error)
        let request = TokenRequest(scope: try Scope("x"))
        for _ in 0..<3 {
            #expect(await code { try await world.users.clientToken(provider: "acme", request) } == .resourceRefused)
            #expect(await code { try await world.users.clientToken(provider: "acme") } == .providerMisconfigured)
        }
        // Not repeated without the scope: a token of another one would be no answer.
        #expect(world.transport.requestCount == 2)
        world.transport.enqueue(.generation("2"))
        #expect(try await world.users.accessToken(for: .login(login.id), .renewed).name == "2")
        #expect(world.transport.requestCount == 3)
    }

    @Test func aRejectedTokenIsFetchedAnewOnce() async throws {
        let world = try await World()
        world.transport.enqueue(reply("c1"), reply("c2"), reply("c3"))
        let first = try await world.users.clientToken(provider: "acme")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { try await world.users.reportRejected(clientToken: first) } }
            try await group.waitForAll()
        }
        let second = try await world.users.clientToken(provider: "acme")
        #expect(second.name == "c2")
        try await world.users.reportRejected(clientToken: first)
        #expect(world.transport.requestCount == 2)
        #expect(second.generation > first.generation)
        #expect(try await world.users.clientToken(provider: "acme", .renewed).name == "c3")
    }

    @Test func aPublicClientGetsNoneAndIsNotAsked() async throws {
        var provider = Sample.provider()
        provider.authentication = .none
        let world = try await World(provider: provider)
        #expect(await code { try await world.users.clientToken(provider: "acme") } == .invalidArgument)
        #expect(world.transport.requestCount == 0)
    }

    @Test func anotherRegistrationHasOtherTokens() async throws {
        let world = try await World()
        world.transport.enqueue(reply("c1"), reply("c2"))
        _ = try await world.users.clientToken(provider: "acme")
        var change = ProviderChange()
        change.clientID = try ClientID("client-2")
        try await world.vault.changeProvider(named: "acme", change)
        #expect(try await world.users.clientToken(provider: "acme").name == "c2")
    }

    @Test func theSecretThatTheServerTakesComesFirstFromThenOn() async throws {
        var provider = Sample.provider()
        provider.alternativeSecrets = [try ClientSecret("CANARY-next")]
        let world = try await World(provider: provider)
        world.transport.enqueue(.error("invalid_client", status: .unauthorized), reply("c1"), reply("c2"))
        #expect(try await world.users.clientToken(provider: "acme").name == "c1")
        #expect(try await world.users.clientToken(provider: "acme", TokenRequest(scope: Scope("x"))).name == "c2")
        let credentials = world.transport.requests.map { $0.request.headerFields[.authorization] }
        #expect(credentials[1] == credentials[2] && credentials[0] != credentials[1])
    }

    @Test func aBoundTokenGoesWithProofsOfOneKey() async throws {
        let world = try await World(provider: Sample.provider(dpop: .required))
        world.transport.enqueue(reply("c1", tokenType: "DPoP"))
        let token = try await world.users.clientToken(provider: "acme")
        #expect(token.tokenType == .dpop)
        #expect(world.transport.requests.first?.request.headerFields[.dpop] != nil)
        let authorized = try await world.users.authorize(
            HTTPRequest(method: .get, scheme: "https", authority: "api.example", path: "/me"), withClientToken: token)
        let request = authorized.request
        #expect(request.headerFields[.authorization] == "DPoP CANARY-access-c1")
        #expect(request.headerFields[.dpop]?.split(separator: ".").count == 3)
        let fields: HTTPFields = [.wwwAuthenticate: #"DPoP error="use_dpop_nonce""#, .dpopNonce: "n-1"]
        let response = HTTPResponse(status: .unauthorized, headerFields: fields)
        #expect(await authorized.outcome(of: response) == .wantsNewProof)
        // A plain token is refused.
        world.transport.enqueue(reply("c2"))
        #expect(await code { try await world.users.clientToken(provider: "acme", .renewed) } == .protocolViolation)
    }

    @Test func aCancelledCallerEndsItsOwnWaitAndADeadlineTheCall() async throws {
        let world = try await World()
        let gate = Gate()
        world.transport.enqueue(reply("c1").behind(gate))
        let cancelled = Task { try await world.users.clientToken(provider: "acme") }
        await world.transport.waitForRequests(1)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let late = Task { try await world.users.clientToken(provider: "acme", TokenRequest(deadline: .seconds(1))) }
        await world.time.waitForSleepers(1)
        world.time.advance(by: .seconds(2))
        #expect(await code { try await late.value } == .deadlineExceeded)
        let patient = Task { try await world.users.clientToken(provider: "acme") }
        gate.open()
        #expect(try await patient.value.name == "c1")
        #expect(world.transport.requestCount == 1)
    }

    @Test func nothingIsFetchedForAClosedVault() async throws {
        let world = try await World()
        await world.vault.close()
        #expect(await code { try await world.users.clientToken(provider: "acme") } == .closed)
        #expect(world.transport.requestCount == 0)
    }
}

extension ClientToken {
    /// The name that the sample was made with.
    fileprivate var name: String { String(accessToken.reveal().dropFirst((Sample.marker + "access-").count)) }
}
