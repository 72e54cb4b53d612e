import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVault
import TokenVaultTesting

/// What one log-in asks for, and what the provider says to it.
struct LogInParameterTests {
    private func parameters(of url: String) -> [FormParameter] {
        FormCodec.decode(url.split(separator: "?", maxSplits: 1).last.map { Array($0.utf8) } ?? []) ?? []
    }

    private func pushing(_ change: (inout ProviderRegistration) -> Void = { _ in }) throws -> ProviderRegistration {
        var registration = Sample.provider()
        registration.pushedAuthorizationEndpoint = try EndpointURL("https://acme.example/par")
        registration.requiresPushedRequests = true
        change(&registration)
        return registration
    }

    @Test func everythingThatIsAskedForIsSent() async throws {
        let world = try await World()
        var asked = LogInParameters()
        asked.resources = ["https://one.example/", "urn:example:two"]
        asked.prompt = "login consent"
        asked.maximumAge = .seconds(300)
        asked.contextClasses = ["gold", "silver"]
        asked.authorizationDetails = #"[{"type":"payment"}]"#
        asked.extra = [FormParameter("ui_locales", "de fr")]
        let request = try await world.users.beginLogIn(
            LogInRequest(userId: "alice", provider: "acme", parameters: asked))
        let sent = parameters(of: request.url)
        #expect(sent.filter { $0.name == "resource" }.map(\.value) == asked.resources)
        for (name, value) in [
            ("prompt", "login consent"), ("max_age", "300"), ("acr_values", "gold silver"),
            ("authorization_details", #"[{"type":"payment"}]"#), ("ui_locales", "de fr"),
        ] {
            #expect(sent.filter { $0.name == name }.map(\.value) == [value])
        }
        #expect(!sent.contains { $0.name == "nonce" })
    }

    /// RFC 8707 §2.2: what the code is redeemed for decides what later renewals may name.
    @Test func resourcesAreNamedAgainWithTheCode() async throws {
        let world = try await World()
        var asked = LogInParameters()
        asked.resources = ["https://one.example/", "https://two.example/"]
        let request = try await world.users.beginLogIn(
            LogInRequest(userId: "alice", provider: "acme", parameters: asked))
        world.transport.enqueue(.generation("1"))
        _ = try await world.users.completeLogIn(
            .url("?code=CANARY-code&state=\(request.state)"), boundTo: request.binding)
        let body = try #require(world.transport.requests.last?.body)
        #expect(FormCodec.decode(body)?.filter { $0.name == "resource" }.map(\.value) == asked.resources)
        world.transport.enqueue(.generation("2"))
        _ = try await world.users.logIn(
            LogInRequest(userId: "bob", provider: "acme", parameters: asked),
            authorizationCode: AuthorizationCode("CANARY-code"), codeVerifier: .random())
        let second = try #require(world.transport.requests.last?.body)
        #expect(FormCodec.decode(second)?.filter { $0.name == "resource" }.count == 2)
    }

    @Test(
        arguments: [
            { $0.resources = ["no-uri"] }, { $0.resources = ["https://a.example/#f"] },
            { $0.resources = ["https://a.example/", "https://a.example/"] },
            { $0.resources = (0...16).map { "https://a.example/\($0)" } },
            { $0.prompt = "a\nb" }, { $0.prompt = "" }, { $0.maximumAge = .seconds(-1) },
            { $0.contextClasses = ["a b"] }, { $0.authorizationDetails = "{}" },
            { $0.authorizationDetails = #"[],"x":[]"# }, { $0.authorizationDetails = "[" },
            { $0.extra = [FormParameter("state", "mine")] }, { $0.extra = [FormParameter("nonce", "mine")] },
            { $0.extra = [FormParameter("redirect_uri", "https://evil.example/")] },
            { $0.extra = [FormParameter("", "x")] },
        ] as [@Sendable (inout LogInParameters) -> Void])
    func whatNoProviderCanTakeIsRefused(_ change: @Sendable (inout LogInParameters) -> Void) async throws {
        let world = try await World(provider: try pushing())
        var asked = LogInParameters()
        change(&asked)
        let parameters = asked
        #expect(
            await code {
                try await world.users.beginLogIn(
                    LogInRequest(userId: "alice", provider: "acme", parameters: parameters))
            }
                == .invalidArgument)
        #expect(world.transport.requestCount == 0)
    }

    @Test func whatIsOnlyTakenPushedIsPushed() async throws {
        let world = try await World(provider: try pushing())
        world.transport.enqueue(.json(#"{"request_uri":"urn:example:1","expires_in":60}"#, status: .created))
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        #expect(request.url.hasSuffix("request_uri=urn%3Aexample%3A1"))
        // The browser has a minute to get there, and the user ten to come back.
        #expect(request.urlExpiresAt == world.now.addingTimeInterval(60))
        #expect(request.expiresAt == world.now.addingTimeInterval(600))
        world.time.advance(by: .seconds(90))
        world.transport.enqueue(.generation("1"))
        _ = try await world.users.completeLogIn(
            .url("?code=CANARY-code&state=\(request.state)"), boundTo: request.binding)
    }

    @Test func withoutAPushTheURLLivesAsLongAsTheLogIn() async throws {
        let world = try await World()
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        #expect(request.urlExpiresAt == request.expiresAt)
        let blind = try await World(provider: try pushing { $0.pushedAuthorizationEndpoint = nil })
        #expect(
            await code { try await blind.users.beginLogIn(LogInRequest(userId: "a", provider: "acme")) }
                == .providerMisconfigured)
    }

    @Test(arguments: [
        ("invalid_scope", VaultError.Code.logInRefused), ("invalid_request", .logInRefused),
        ("invalid_target", .logInRefused), ("invalid_authorization_details", .logInRefused),
        ("invalid_client", .providerMisconfigured), ("unauthorized_client", .providerMisconfigured),
    ])
    func onlyWhatIsAboutTheClientIsAMisconfiguration(error: String, expected: VaultError.Code) async throws {
        let world = try await World(provider: try pushing())
        world.transport.fallback = .json(
            #"{"error":"\#(error)","error_description":"not CANARY-client-secret"}"#, status: .badRequest)
        do {
            _ = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
            Issue.record("the request was taken")
        } catch let failure as VaultError {
            #expect(failure.code == expected)
            #expect(failure.answer?.words == "400 \(error): not [hidden]")
        }
    }

    // MARK: Why

    @Test(arguments: [
        (
            ScriptedReply.json(
                #"{"error":"invalid_code","error_description":"used up: CANARY-code"}"#, status: .forbidden),
            VaultError.Code.logInRefused, "403 invalid_code: used up: [hidden]"
        ),
        (.status(.internalServerError), .tryLater, "500"),
        (.error("invalid_grant"), .logInRefused, "400 invalid_grant"),
        (.status(.tooManyRequests), .tryLater, "429"),
    ])
    func aRefusedCodeIsToldWithTheProvidersWords(
        reply: ScriptedReply, expected: VaultError.Code, words: String
    ) async throws {
        let world = try await World()
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        world.transport.enqueue(reply)
        do {
            _ = try await world.users.completeLogIn(
                .url("?code=CANARY-code&state=\(request.state)"), boundTo: request.binding)
            Issue.record("the log-in was completed")
        } catch let error as VaultError {
            #expect(error.code == expected)
            #expect(error.answer?.words == words)
            #expect(!"\(error) \(String(reflecting: error))".contains("CANARY"))
        }
    }

    @Test func aRefusalInTheCallbackIsToldWithItsWords() async throws {
        let world = try await World()
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        let url = "?error=access_denied&error_description=not%20today%1B%5B31m&state=\(request.state)"
        do {
            _ = try await world.users.completeLogIn(.url(url), boundTo: request.binding)
            Issue.record("the log-in was completed")
        } catch let error as VaultError {
            #expect(error.code == .logInRefused)
            #expect(error.answer?.words == "access_denied: not today[31m")
        }
    }

    @Test func anErrorWithoutAnIssuerIsNotBelievedAndShown() async throws {
        var registration = Sample.provider()
        registration.requiresIssuerInCallback = true
        let world = try await World(provider: registration)
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        do {
            _ = try await world.users.completeLogIn(
                .url("?error=invalid_scope&state=\(request.state)"), boundTo: request.binding)
            Issue.record("the log-in was completed")
        } catch let error as VaultError {
            #expect(error.code == .protocolViolation)
            #expect(error.answer?.words == "invalid_scope")
        }
    }
}
