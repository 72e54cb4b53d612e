import OAuthClient
import Testing

struct ValueTests {
    @Test func tokensHoldPrintableASCIIUpTo64KiB() throws {
        #expect(try AccessToken(" ~!").reveal() == " ~!")
        #expect(try RefreshToken(String(repeating: "r", count: 65_536)).reveal().utf8.count == 65_536)
        #expect(throws: OAuthValueError(.empty, "access token")) { try AccessToken("") }
        #expect(throws: OAuthValueError(.tooLong, "refresh token")) {
            try RefreshToken(String(repeating: "r", count: 65_537))
        }
        for text in ["a\n", "\0", "a\u{7F}", "é", "\u{1B}[0m"] {
            #expect(throws: OAuthValueError(.forbiddenCharacter, "id token")) { try IDToken(text) }
        }
        #expect("\(OAuthValueError(.empty, "access token"))" == "the access token is empty")
    }

    /// What is read from a vault is taken, or not, as what comes from a server.
    @Test func storedBytesAreAnAccessTokenIfTheirTextIs() {
        func stored(_ bytes: [UInt8]) -> String? {
            unsafe bytes.withUnsafeBytes { unsafe AccessToken(visible: $0)?.reveal() }
        }
        var taken = 0
        for length in [1, 2, 15, 16, 17, 33, 100] {
            for place in Set([0, length / 2, length - 1]) {
                for byte in UInt8.min...UInt8.max {
                    var bytes = [UInt8](repeating: 0x61, count: length)
                    bytes[place] = byte
                    let text = String(validating: bytes, as: UTF8.self)
                    let token = text.flatMap { try? AccessToken($0).reveal() }
                    #expect(stored(bytes) == token, "\(byte) at \(place) of \(length)")
                    taken += token == nil ? 0 : 1
                }
            }
        }
        // 95 characters at each of 18 places.
        #expect(taken == 18 * 95)
        #expect(stored([]) == nil)
        #expect(stored(Array("aé".utf8)) == nil)
        #expect(stored([UInt8](repeating: 0x61, count: 65_536))?.utf8.count == 65_536)
        #expect(stored([UInt8](repeating: 0x61, count: 65_537)) == nil)
    }

    @Test func tokenTypesIgnoreCase() {
        #expect(TokenType("BEARER") == .bearer)
        #expect(TokenType("Bearer") == .bearer)
        #expect(TokenType("DPoP") == .dpop)
        #expect(TokenType("DPoP ") != .dpop)
        #expect(TokenType("dpoP") == .dpop)
        #expect("\(TokenType("dpop"))" == "DPoP")
        #expect("\(TokenType("bearer"))" == "Bearer")
    }

    @Test func scopesAreOrderedSets() throws {
        let scope = try Scope("b a  b c")
        #expect(scope.tokens == ["b", "a", "c"])
        #expect("\(scope)" == "b a c")
        #expect(try scope.contains(Scope("a b")))
        #expect(try !scope.contains(Scope("a d")))
        #expect(throws: OAuthValueError.self) { try Scope("a\"b") }
        #expect(throws: OAuthValueError.self) { try Scope(tokens: ["a b"]) }
        #expect(throws: OAuthValueError.self) { try Scope(tokens: [""]) }
    }

    @Test(arguments: [
        "https://example.com/token", "https://EXAMPLE.com:8443/a/b?x=%20", "https://[2001:db8::1]/x", "https://e_x.com",
    ])
    func secureEndpointsAreTaken(_ text: String) throws {
        #expect(try EndpointURL(text).rawValue == text)
    }

    @Test(arguments: [
        "http://127.0.0.1:8080/x", "http://127.255.0.3/", "http://localhost/x", "http://[::1]:9/x", "HTTP://LOCALHOST/",
    ])
    func loopbackNeedsPermission(_ text: String) throws {
        #expect(throws: OAuthValueError(.insecure, "endpoint URL")) { try EndpointURL(text) }
        #expect(try EndpointURL(text, allowsInsecureLoopback: true).isLoopback)
    }

    @Test(arguments: [
        "http://example.com/", "http://128.0.0.1/", "http://127.0.0.1.example.com/", "http://localhost.example.com/",
        "http://127.0.0/", "http://127.0.0.256/", "http://[::2]/", "http://127.1/",
    ])
    func nothingElseIsLoopback(_ text: String) {
        #expect(throws: OAuthValueError(.insecure, "endpoint URL")) {
            try EndpointURL(text, allowsInsecureLoopback: true)
        }
    }

    @Test(arguments: [
        "", "https", "https:", "https:/", "https://", "https://:443/", "https:///x", "https://a b/", "https://a/%zz",
        "https://a/%2", "https://user@a/", "https://a:0/", "https://a:65536/", "https://a:x/", "https://[::1/",
        "https://[]/", "https://[x]/", "https://é/", "https://a/é", "https://a/\"", "https://a/<", "https://a/#",
        "https://a\\b/", "https://a/\n", "javascript:alert(1)", "https://a%2Fb/",
    ])
    func whatIsNoURLIsRefused(_ text: String) {
        #expect(throws: OAuthValueError(.malformed, "endpoint URL")) { try EndpointURL(text) }
    }

    @Test(arguments: [
        ("a.example", "it does not begin with https://"), ("https:a.example", "it does not begin with https://"),
        ("https://", "it names no host"), ("https://:443/", "it names no host"),
        ("https://a\\b/", "its host has a character that no host has"),
        ("https://[x]/", "its host has a character that no host has"),
        ("https://user:pw@a/", "it has a user name or a password"),
        ("https://a@/", "it has a user name or a password"),
        ("https://a:0/", "its port is not a number between 1 and 65535"),
        ("https://[::1]x/", "its port is not a number between 1 and 65535"),
        ("https://a/ b", "it has a blank, a control character, or a letter beyond ASCII"),
        ("https://a/%2", "its path or its query has a character that must be percent-encoded"),
        ("https://a/?%zz", "its path or its query has a character that must be percent-encoded"),
        ("https://a/?x", "it has a query"), ("https://a/#x", "it has a fragment"),
        ("https://a/" + String(repeating: "x", count: 8_192), "it is longer than 8192 characters"),
    ])
    func theRuleThatAnIssuerBreaksIsNamed(_ text: String, _ rule: String) {
        let error = #expect(throws: OAuthValueError.self) { try Issuer(text) }
        #expect(error?.description == "the issuer is malformed: \(rule)")
    }

    @Test func originsNameThePortOnlyIfItIsUnusual() throws {
        #expect(try EndpointURL("https://A.example:443/x").origin == "https://a.example")
        #expect(try EndpointURL("https://a.example:444/x").origin == "https://a.example:444")
    }

    @Test func anIssuerHasNeitherQueryNorFragment() throws {
        #expect(throws: OAuthValueError.self) { try Issuer("https://a.example/?x") }
        #expect(throws: OAuthValueError.self) { try Issuer("https://a.example/#x") }
        #expect(try Issuer("https://a.example/t").rawValue == "https://a.example/t")
    }

    @Test func clientAuthenticationIsNamedAsRegistered() throws {
        let secret = try ClientSecret("s")
        for method in [ClientAuthentication.none, .clientSecretBasic(secret), .clientSecretPost(secret)] {
            #expect(ClientAuthentication(methodName: method.methodName, secret: secret) == method)
        }
        #expect(ClientAuthentication(methodName: "client_secret_basic", secret: nil) == nil)
        #expect(ClientAuthentication(methodName: "private_key_jwt", secret: secret) == nil)
    }

    @Test(arguments: [
        "https://app.example/cb?x=1", "http://127.0.0.1/callback", "http://localhost:8080", "com.example.app:/callback",
    ])
    func redirectURIsAreKeptAsTheyAre(_ text: String) throws {
        #expect(try RedirectURI(text).rawValue == text)
    }

    @Test func whatIsNoRedirectURIIsRefused() {
        let cases: [(String, OAuthValueError.Code)] = [
            ("", .empty), ("https://a/" + String(repeating: "x", count: 2_039), .tooLong),
            ("https://a/ b", .forbiddenCharacter),
            ("https://é/", .forbiddenCharacter), ("https://a/#b", .malformed), ("/callback", .malformed),
            ("https:", .malformed), (":x", .malformed), ("1a:x", .malformed), ("callback", .malformed),
        ]
        for (text, code) in cases {
            #expect(throws: OAuthValueError(code, "redirect URI")) { try RedirectURI(text) }
        }
    }
}
