import OAuthClient
import Testing

/// Where a code may be sent (RFC 9700 §2.6, RFC 8252 §7).
struct RedirectURITests {
    @Test(arguments: [
        "https://app.example/callback", "HTTPS://app.example", "https://app.example:8443/cb?x=1",
        "http://127.0.0.1/callback",
        "http://127.0.0.1:8080/callback", "http://[::1]:1/", "http://localhost/callback", "com.example.app:/callback",
        "com.example.app://callback", "http://127.9.9.9/",
    ])
    func whereACodeMayGo(uri: String) throws {
        #expect(try RedirectURI(uri).rawValue == uri)
    }

    @Test(arguments: [
        "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "myapp:/callback", "http://app.example/cb",
        "http://127.evil.example/cb", "http://127.0.0.1.evil.example/cb", "https://app.example@evil.example/cb",
        "https://app.example:x@evil.example/cb", "https:///cb", "https:app.example/cb", "https://app.example/cb#x",
        "https://app.example\\@evil.example/cb", "com.example.app://user@callback", "nonsense", "", "://x", "1a.b:/x",
        "http://localhost.evil.example/", "http://user@127.0.0.1/",
    ])
    func whereItMayNot(uri: String) {
        #expect(throws: OAuthValueError.self) { try RedirectURI(uri) }
    }
}
