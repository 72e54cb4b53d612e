import EngineSupport
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVault
import TokenVaultTesting

@Suite(.tags(.everyEngine))
struct LogInTests {
    private func query(_ url: String) -> [String: String] {
        ScriptedTransport.SentRequest(
            request: HTTPRequest(method: .get, scheme: nil, authority: nil, path: nil),
            body: Array(url.split(separator: "?", maxSplits: 1).last.map(String.init)?.utf8 ?? "".utf8)
        ).form
    }

    private func callback(_ request: AuthorizationRequest, _ rest: String = "code=CANARY-code") -> String {
        "https://app.example/callback?\(rest)&state=\(request.state)"
    }

    /// The cause is named, and the code is not used: the same callback works later.
    @Test(
        arguments: [
            (.dns, .network, "the host name was not found"), (.connect, .network, "the connection was refused"),
            (.tls, .network, "TLS"), (.proxy, .network, "proxy"), (.refused, .providerMisconfigured, "transport"),
        ] as [(HTTPTransportError.Code, VaultError.Code, String)])
    func anUnsentCodeNamesItsCause(
        cause: HTTPTransportError.Code, expected: VaultError.Code, words: String
    ) async throws {
        let world = try await World()
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        world.transport.enqueue(.failure(.notSent, cause), .generation("1"))
        await #expect {
            _ = try await world.users.completeLogIn(.url(callback(request)), boundTo: request.binding)
        } throws: { error in
            guard let error = error as? VaultError else { return false }
            return error.code == expected && error.message.contains(words) && error.hint != nil
        }
        let done = try await world.users.completeLogIn(.url(callback(request)), boundTo: request.binding)
        #expect(done.login.userId == "alice")
    }

    @Test func aLogInBegunHereIsCompletedThere() async throws {
        let world = try await World()
        let request = try await world.users.beginLogIn(
            LogInRequest(userId: "alice", provider: "acme", label: "work", loginHint: "alice@acme.example"))
        let sent = query(request.url)
        #expect(request.url.hasPrefix("https://acme.example/authorize?"))
        #expect(sent["response_type"] == "code")
        #expect(sent["client_id"] == "client-1")
        #expect(sent["redirect_uri"] == "https://app.example/callback")
        #expect(sent["scope"] == "read write")
        #expect(sent["code_challenge_method"] == "S256")
        #expect(sent["login_hint"] == "alice@acme.example")
        #expect(sent["dpop_jkt"] == nil)
        await world.vault.close()

        let other = try await world.anotherProcess()
        world.transport.enqueue(.generation("1"))
        let login = try await other.users.completeLogIn(.url(callback(request)), boundTo: request.binding).login
        #expect(login.userId == "alice")
        #expect(login.label == "work")
        #expect(login.provider == "acme")
        #expect(login.isRefreshable)
        #expect(login.scope?.description == "read write")
        let form = try #require(world.transport.requests.first?.form)
        #expect(form["grant_type"] == "authorization_code")
        #expect(form["code"] == "CANARY-code")
        #expect(form["redirect_uri"] == "https://app.example/callback")
        let verifier = try CodeVerifier(try #require(form["code_verifier"]))
        #expect(verifier.challenge.rawValue == sent["code_challenge"])
        #expect(try await other.users.accessToken(userId: "alice").name == "1")
    }

    @Test func noLogInBeginsForADisabledUser() async throws {
        let world = try await World()
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        world.transport.enqueue(.generation("1"))
        _ = try await world.users.completeLogIn(.url(callback(request)), boundTo: request.binding)
        _ = try await world.users.disableUser("alice")
        await #expect(throws: VaultError.self) {
            try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        }
        try await world.users.enableUser("alice")
        _ = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
    }

    @Test func aCallbackCompletesOnce() async throws {
        let world = try await World()
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        world.transport.enqueue(.generation("1"))
        _ = try await world.users.completeLogIn(.url(callback(request)), boundTo: request.binding)
        #expect(
            await code { try await world.users.completeLogIn(.url(callback(request)), boundTo: request.binding) }
                == .unknownAuthorizationRequest)
        #expect(world.transport.requestCount == 1)
    }

    @Test func aLogInThatTookTooLongIsOver() async throws {
        let world = try await World()
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        #expect(request.expiresAt == world.now.addingTimeInterval(600))
        world.time.advance(by: .seconds(601))
        #expect(
            await code { try await world.users.completeLogIn(.url(callback(request)), boundTo: request.binding) }
                == .unknownAuthorizationRequest)
        #expect(world.transport.requestCount == 0)
    }

    @Test func stateAndCodeAloneComplete() async throws {
        let world = try await World()
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        world.transport.enqueue(.generation("1"))
        let done = try await world.users.completeLogIn(
            .parameters(state: request.state, code: AuthorizationCode("CANARY-code")), boundTo: request.binding)
        #expect(done.login.state == .established)
    }

    @Test func aRefusedLogInIsToldAsRefused() async throws {
        let world = try await World()
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        #expect(
            await code {
                try await world.users.completeLogIn(
                    .url(callback(request, "error=access_denied")), boundTo: request.binding)
            } == .logInRefused)
        #expect(await code { try await world.vault.user("alice") } == .unknownUser)
    }

    @Test func anAnswerOfAnotherServerIsNotTaken() async throws {
        let world = try await World()
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        let forged = callback(request, "code=CANARY-code&iss=https%3A%2F%2Fevil.example")
        #expect(
            await code { try await world.users.completeLogIn(.url(forged), boundTo: request.binding) }
                == .protocolViolation)
        #expect(world.transport.requestCount == 0)
    }

    @Test(arguments: ["", "https://app.example/callback", "https://app.example/callback?code=x", "%%%"])
    func aCallbackThatIsNoneIsRefused(url: String) async throws {
        let world = try await World()
        #expect(
            await code { try await world.users.completeLogIn(.url(url), boundTo: .random()) }
                == .invalidArgument)
    }

    @Test func aCodeThatWasNotSentCanBeTriedAgain() async throws {
        let world = try await World()
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        #expect(
            await code { try await world.users.completeLogIn(.url(callback(request)), boundTo: request.binding) }
                == .network)
        world.transport.enqueue(.generation("1"))
        let done = try await world.users.completeLogIn(.url(callback(request)), boundTo: request.binding)
        #expect(done.login.userId == "alice")
    }

    @Test(arguments: [
        (ScriptedReply.error("invalid_grant"), VaultError.Code.logInRefused),
        (.error("invalid_client", status: .unauthorized), .providerMisconfigured),
        (.status(.internalServerError), .tryLater),
        (.failure(.maybeSent, .timeout), .tryLater),
    ])
    func aCodeThatBringsNothingMakesNoLogin(reply: ScriptedReply, expected: VaultError.Code) async throws {
        let world = try await World()
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        world.transport.enqueue(reply)
        #expect(
            await code { try await world.users.completeLogIn(.url(callback(request)), boundTo: request.binding) }
                == expected)
        #expect(await code { try await world.vault.user("alice") } == .unknownUser)
        #expect(world.transport.requestCount == 1)
    }

    @Test func aBoundLogInUsesOneKeyForItsWholeLife() async throws {
        let world = try await World()
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme", dpop: true))
        let thumbprint = try #require(query(request.url)["dpop_jkt"])
        #expect(thumbprint.count == 43)
        world.transport.enqueue(
            .tokens(accessToken: "CANARY-access-1", refreshToken: "CANARY-refresh-1", tokenType: "DPoP"),
            .tokens(accessToken: "CANARY-access-2", refreshToken: "CANARY-refresh-2", tokenType: "DPoP"))
        let login = try await world.users.completeLogIn(.url(callback(request)), boundTo: request.binding).login
        #expect(login.isDPoPBound)
        let token = try await world.users.accessToken(for: .login(login.id), .renewed)
        #expect(token.tokenType == .dpop)
        let proofs = world.transport.requests.compactMap { sent in
            sent.request.headerFields.first { $0.name.rawName.lowercased() == "dpop" }?.value
        }
        #expect(proofs.count == 2)
        #expect(Set(proofs).count == 2)
        #expect(Set(proofs.map { $0.prefix { $0 != "." } }).count == 1)
    }

    @Test func theDPoPPolicyOfAProviderHolds() async throws {
        let never = try await World(provider: Sample.provider(dpop: .never))
        #expect(
            await code { try await never.users.beginLogIn(LogInRequest(userId: "a", provider: "acme", dpop: true)) }
                == .invalidArgument)
        let required = try await World(provider: Sample.provider(dpop: .required))
        #expect(
            await code { try await required.users.beginLogIn(LogInRequest(userId: "a", provider: "acme", dpop: false)) }
                == .invalidArgument)
        let request = try await required.users.beginLogIn(LogInRequest(userId: "a", provider: "acme"))
        #expect(query(request.url)["dpop_jkt"] != nil)
    }

    @Test func unknownProvidersAreRefused() async throws {
        let world = try await World()
        #expect(
            await code { try await world.users.beginLogIn(LogInRequest(userId: "a", provider: "no")) }
                == .unknownProvider)
        #expect(
            await code {
                try await world.users.addLogin(userId: "a", provider: "no", refreshToken: Sample.refreshToken())
            } == .unknownProvider)
        #expect(
            await code { try await world.users.addLogin(userId: "a", refreshToken: Sample.refreshToken()) }
                == .invalidArgument)
        #expect(await code { try await world.users.addLogin(userId: "a") } == .invalidArgument)
    }
}
