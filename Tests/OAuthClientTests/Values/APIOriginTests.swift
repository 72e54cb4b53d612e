import OAuthClient
import Testing

struct APIOriginTests {
    @Test(arguments: [
        ("https://api.example", "https://api.example", ["https://api.example/", "https://API.example:443/a?b=c"]),
        ("HTTPS://API.example:443/", "https://api.example", ["https://api.example/me"]),
        ("https://api.example:8443", "https://api.example:8443", ["https://api.example:8443/me"]),
        ("https://[2001:DB8::1]", "https://[2001:db8::1]", ["https://[2001:db8::1]/"]),
        ("https://*.acme.example", "https://*.acme.example", ["https://a.acme.example/", "https://a.b.acme.example/"]),
        ("https://*.acme.example:8443", "https://*.acme.example:8443", ["https://a.acme.example:8443/"]),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080", ["http://127.0.0.1:8080/"]),
    ])
    func itCoversItsOwn(_ text: String, _ canonical: String, _ targets: [String]) throws {
        let origin = try APIOrigin(text, allowsInsecureLoopback: true)
        #expect(origin.rawValue == canonical)
        #expect(try APIOrigin(canonical, allowsInsecureLoopback: true) == origin)
        for target in targets {
            #expect(origin.covers(try EndpointURL(target, allowsInsecureLoopback: true)), "\(target)")
        }
    }

    @Test(arguments: [
        ("https://api.example", "https://api.example:8443/"), ("https://api.example", "https://api.example.evil.test/"),
        ("https://api.example", "https://evil-api.example/"), ("https://api.example", "https://api.example./"),
        ("https://api.example", "https://a.api.example/"), ("https://api.example:8443", "https://api.example/"),
        ("https://127.0.0.1", "http://127.0.0.1:443/"), ("http://127.0.0.1:8080", "http://127.0.0.1:8081/"),
        ("http://127.0.0.1:8080", "http://localhost:8080/"), ("https://*.acme.example", "https://acme.example/"),
        ("https://*.acme.example", "https://.acme.example/"), ("https://*.acme.example", "https://evilacme.example/"),
        ("https://*.acme.example", "https://a.acme.example:8443/"),
        ("https://*.acme.example", "https://a.acme.example.evil.test/"),
        ("https://*.acme.example:8443", "https://a.acme.example/"),
    ])
    func itCoversNothingElse(_ text: String, _ target: String) throws {
        let origin = try APIOrigin(text, allowsInsecureLoopback: true)
        #expect(!origin.covers(try EndpointURL(target, allowsInsecureLoopback: true)))
    }

    @Test(arguments: [
        "api.example", "https://api.example/v1", "https://api.example?", "https://api.example#", "https://*",
        "https://*.example", "https://*.com.", "https://*..example.com", "https://a.*.example.com",
        "https://*.*.example.com", "https://a*.example.com", "https://*.0.0.1", "https://*.[::1]",
        "https://user@api.example", "https://", "",
    ])
    func whatIsNoOriginIsRefused(_ text: String) {
        #expect(throws: OAuthValueError(.malformed, "API origin")) { try APIOrigin(text) }
    }

    @Test(arguments: ["http://api.example", "http://127.0.0.1:8080"])
    func plainHTTPIsRefused(_ text: String) {
        #expect(throws: OAuthValueError(.insecure, "API origin")) { try APIOrigin(text) }
        #expect(throws: OAuthValueError(.insecure, "API origin")) {
            try APIOrigin("http://*.api.example", allowsInsecureLoopback: true)
        }
    }
}
