import OAuthClient
import Testing

struct ResourceIdentifierTests {
    @Test(arguments: [
        ("https://API.example/mcp", "https://api.example/mcp"),
        ("https://api.example:443/mcp/", "https://api.example/mcp"),
        ("HTTPS://api.example", "https://api.example"), ("https://api.example/", "https://api.example"),
        ("https://api.example:8443/a/B", "https://api.example:8443/a/B"),
        ("https://api.example/a?b=C", "https://api.example/a?b=C"),
    ])
    func aResourceHasOneSpelling(_ given: String, _ expected: String) throws {
        #expect(try ResourceIdentifier(given).rawValue == expected)
        #expect(try ResourceIdentifier(expected) == ResourceIdentifier(given))
    }

    @Test(arguments: [
        "", "api.example", "ftp://api.example", "https://api.example/#x", "https://u@api.example/",
        "https://api.example/a/../b",
        "https://api.example/./a", "http://api.example/", "http://127.0.0.1:8080/mcp", "https://",
        "https://api.example/ä",
    ])
    func whatIsNoResourceIsRefused(_ text: String) {
        #expect(throws: OAuthValueError.self) { try ResourceIdentifier(text) }
    }

    @Test func httpIsForThisMachineAlone() throws {
        #expect(
            try ResourceIdentifier("http://127.0.0.1:80/x", allowsInsecureLoopback: true).rawValue
                == "http://127.0.0.1/x")
        #expect(throws: OAuthValueError.self) {
            try ResourceIdentifier("http://10.0.0.1/x", allowsInsecureLoopback: true)
        }
    }

    /// A token for one resource of a server never goes to its neighbour.
    @Test(arguments: [
        ("https://api.example/mcp", true), ("https://api.example/mcp?x=1", true),
        ("https://api.example/mcp/tools", true),
        ("https://api.example/mcp2", false), ("https://api.example/", false), ("https://api.example/other/mcp", false),
        ("https://api.example/mcp/../admin", false), ("https://api.example/mcp/%2e%2E/admin", false),
        ("https://api.example/mcp/..%2fadmin", false), ("https://api.example/mcp/.%2e/admin", false),
        ("https://api.example/mcp/..;/admin", false), ("https://api.example/mcp/..;x=1/admin", false),
        ("https://api.example/mcp/..%5c..%5Cadmin", false), ("https://api.example/mcp/%252e%252E/admin", false),
        ("https://api.example/mcp/100%25", true), ("https://api.example/mcp/a;b", true),
        ("https://api.example:8443/mcp", false), ("https://evil.example/mcp", false),
        ("https://api.example.evil/mcp", false),
    ])
    func aResourceCoversItsPathAndWhatIsBelow(_ url: String, _ expected: Bool) throws {
        let resource = try ResourceIdentifier("https://api.example/mcp")
        #expect(resource.covers(try EndpointURL(url)) == expected)
    }

    @Test func aQueryBelongsToTheResource() throws {
        let resource = try ResourceIdentifier("https://api.example/mcp?tenant=a")
        #expect(resource.covers(try EndpointURL("https://api.example/mcp?tenant=a")))
        for other in ["?tenant=b", "", "?tenant=a&x=1", "?tenant=A"] {
            #expect(!resource.covers(try EndpointURL("https://api.example/mcp" + other)), "\(other)")
        }
    }

    @Test func anOriginCoversAllOfIt() throws {
        let resource = try ResourceIdentifier("https://api.example")
        #expect(resource.covers(try EndpointURL("https://api.example")))
        #expect(resource.covers(try EndpointURL("https://api.example/a/b")))
        #expect(!resource.covers(try EndpointURL("https://b.example/a")))
    }
}
