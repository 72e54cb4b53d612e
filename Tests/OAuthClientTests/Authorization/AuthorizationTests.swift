import OAuthClient
import Testing

struct AuthorizationURLTests {
    @Test func everyParameterStandsInTheURLOnce() throws {
        let verifier = try CodeVerifier("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        let key = DPoPKey.generate()
        let url = AuthorizationURL(
            endpoint: try EndpointURL("https://a.example/authorize?tenant=1"), clientID: try ClientID("my client"),
            state: try AuthorizationState("st&te"), codeChallenge: verifier.challenge,
            redirectURI: "https://app.example/cb?x=1", scope: try Scope("openid a:b"), keyThumbprint: key.thumbprint,
            loginHint: "alice@example.com",
            extraParameters: [FormParameter("prompt", "consent"), FormParameter("state", "other")])
        #expect(
            url.reveal() == "https://a.example/authorize?tenant=1&response_type=code&client_id=my+client"
                + "&state=st%26te&redirect_uri=https%3A%2F%2Fapp.example%2Fcb%3Fx%3D1&scope=openid+a%3Ab"
                + "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"
                + "&dpop_jkt=\(key.thumbprint)&login_hint=alice%40example.com&prompt=consent")
    }

    @Test func whatIsNotNeededIsLeftOut() throws {
        let url = AuthorizationURL(
            endpoint: try EndpointURL("https://a.example/authorize"), clientID: try ClientID("c"),
            state: try AuthorizationState("s"), codeChallenge: nil, scope: try Scope(""))
        #expect(url.reveal() == "https://a.example/authorize?response_type=code&client_id=c&state=s")
    }

    @Test func noStateLooksLikeAnOption() {
        // One in 64 would.
        for _ in 0..<2_000 { #expect(!AuthorizationState.random().reveal().hasPrefix("-")) }
    }
}

struct AuthorizationCallbackTests {
    private func code(
        _ url: String, state: String = "s1", issuer: String? = "https://a.example", required: Bool = false
    ) throws -> String {
        let callback = try AuthorizationCallback(parsing: url)
        return try callback.code(
            expectedState: try AuthorizationState(state), issuer: issuer.map { try Issuer($0) },
            issuerIsRequired: required
        ).reveal()
    }

    @Test func aCallbackGivesItsCode() throws {
        #expect(try code("https://app.example/cb?code=abc%2F1&state=s1") == "abc/1")
        #expect(try code("http://127.0.0.1:1/cb?x=1&state=s1&code=c&iss=https%3A%2F%2Fa.example#_=_") == "c")
        #expect(try code("com.example.app:/cb?code=c&state=s1") == "c")
        #expect(try code("code=c&state=s1") == "c")
    }

    /// A query with a question mark in it and a URL look alike; only one of them would be a code.
    @Test func whatCouldBeAURLOrAQueryIsNeither() throws {
        let malformed = AuthorizationCallbackError(.malformed)
        for text in [
            "error=access_denied&x?code=c&state=s1", "state=s1&x=1?error=access_denied&code=c",
            "x:a=1&error=e?code=c&state=s1",
            "error=access_denied&x=\u{301}?code=c&state=s1", "https://app.example/cb?\u{301}=1&code=c&state=s1",
        ] {
            #expect(throws: malformed) { try code(text) }
        }
        #expect(try code("https://app.example/cb;a=1&error=x?code=c&state=s1") == "c")
        #expect(try code("https://app.example/cb?code=c&state=s1&x=?error=y") == "c")
        #expect(try code("localhost:8080/cb?code=c&state=s1#error=x") == "c")
    }

    @Test func anotherStateIsAnotherRequest() {
        for state in ["s2", "s", "s11", "S1"] {
            #expect(throws: AuthorizationCallbackError(.stateMismatch)) { try code("?code=c&state=\(state)") }
        }
        #expect(throws: AuthorizationCallbackError(.missingState)) { try code("?code=c") }
        #expect(throws: AuthorizationCallbackError(.missingState)) { try code("?code=c&state=") }
    }

    @Test func rfc9207WrongOrMissingIssuerIsRefused() throws {
        let mismatch = AuthorizationCallbackError(.issuerMismatch)
        #expect(throws: mismatch) { try code("?code=c&state=s1&iss=https://b.example") }
        #expect(throws: mismatch) { try code("?code=c&state=s1&iss=https://a.example/") }
        #expect(throws: mismatch) { try code("?error=access_denied&state=s1&iss=https://b.example") }
        #expect(throws: AuthorizationCallbackError(.missingIssuer)) { try code("?code=c&state=s1", required: true) }
        #expect(throws: AuthorizationCallbackError(.missingIssuer, error: .accessDenied)) {
            try code("?error=access_denied&state=s1", required: true)
        }
        #expect(try code("?code=c&state=s1&iss=https://a.example", required: true) == "c")
        #expect(try code("?code=c&state=s1&iss=https://b.example", issuer: nil) == "c")
    }

    @Test func aRefusalIsToldWithItsCode() throws {
        do {
            _ = try code("?error=access_denied&error_description=No%1B%5B31m+thanks&state=s1")
            Issue.record("a refusal gave a code")
        } catch let error as AuthorizationCallbackError {
            #expect(error.code == .refused)
            #expect(error.error == .accessDenied)
            #expect(error.errorDescription?.reveal() == "No[31m thanks")
            #expect("\(error)" == "the authorization server refused the request: access_denied")
        }
    }

    @Test(arguments: [
        "?code=a&code=b&state=s1", "?code=a&state=s1&state=s1", "?code=a&state=s1&iss=x&iss=y",
    ])
    func aParameterGivenTwiceIsRefused(_ url: String) {
        #expect(throws: AuthorizationCallbackError(.repeatedParameter)) { try code(url) }
    }

    @Test(arguments: [
        "", "?", "/cb", "https://app.example/cb&code=c&state=s1", "?code=%zz&state=s1", "?code=c&state=s1&error=%22",
    ])
    func otherTextIsMalformed(_ url: String) {
        #expect(throws: AuthorizationCallbackError(.malformed)) { try code(url) }
    }

    @Test(arguments: ["?state=s1", "?state=s1&code=", "?state=s1&code=%0A", "https://app.example/cb"])
    func aCallbackWithoutAnAnswerIsRefused(_ url: String) {
        #expect(throws: AuthorizationCallbackError(.missingAnswer)) { try code(url) }
    }
}
