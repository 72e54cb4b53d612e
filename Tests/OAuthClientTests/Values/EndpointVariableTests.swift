import OAuthClient
import Testing
import TestSupport

/// Values that each log-in brings must not leave their place in an address.
struct EndpointVariableTests {
    private func filled(_ template: String, _ values: [String: String]) throws -> String {
        try EndpointURL(template, allowsVariables: true).filled(with: values).rawValue
    }

    @Test func aValueBecomesPartOfTheAddress() throws {
        #expect(try filled("https://{a}.example.com/t", ["a": "shop-1"]) == "https://shop-1.example.com/t")
        #expect(
            try filled("https://{a}.{b}.example.com:8443/t", ["a": "x", "b": "y"]) == "https://x.y.example.com:8443/t")
        #expect(try filled("https://{a}.example.com/", ["a": "x.y"]) == "https://x.y.example.com/")
        #expect(try filled("https://{a}/t", ["a": "Any.Example.com"]) == "https://any.example.com/t")
        #expect(
            try filled("https://a.example/{t}/x?y={t}", ["t": "a/b ?&=#é"]).hasPrefix(
                "https://a.example/a%2Fb%20%3F%26"))
        #expect(try filled("https://a.example/x", [:]) == "https://a.example/x")
    }

    @Test(arguments: [
        "", ".", "a.", ".a", "a..b", "-a", "a-", "a/b", "a@b", "a:1", "a?b", "a#b", "a%2e", "a b", "evil.example/",
        "a\u{0}",
        "é", "[::1]", "a\\b", "{b}", "a_b", String(repeating: "a", count: 64),
    ])
    func noValueLeavesItsLabels(value: String) throws {
        let template = try EndpointURL("https://{a}.example.com/t", allowsVariables: true)
        #expect(throws: OAuthValueError.self) { try template.filled(with: ["a": value]) }
    }

    @Test(arguments: [
        "https://{a}example.com/", "https://x{a}.example.com/", "https://{a}.com/", "https://a.{b}/",
        "https://a.example:{b}/",
        "https://{a}.{b}/", "https://{a}{b}/", "https://{a}.{b}.com/", "https://{}.example.com/",
        "https://{a/b}.example.com/",
        "https://{a.example.com/", "https://a}.example.com/", "{a}://example.com/", "https://u:{a}@example.com/",
        "https://{a}.example.com/{", "https://a.example/{b c}", "https://a.example/#{b}",
    ])
    func aVariableStandsForWholeLabelsOrInThePath(text: String) {
        #expect(throws: OAuthValueError.self) { try EndpointURL(text, allowsVariables: true) }
        #expect(throws: OAuthValueError.self) { try EndpointURL(text) }
    }

    @Test func withoutItsValueNothingIsSent() throws {
        let template = try EndpointURL("https://{a}.example.com/{b}", allowsVariables: true)
        #expect(template.variables == ["a", "b"])
        #expect(throws: OAuthValueError(.malformed, "value of {b}")) { try template.filled(with: ["a": "x"]) }
        #expect(throws: OAuthValueError.self) { try EndpointURL("https://{a}.example.com/") }
    }

    /// Whatever a value is: the address ends in the fixed domain, or there is none.
    @Test func theDomainStaysForAnyValue() throws {
        var random = SeededGenerator(seed: 1)
        let template = try EndpointURL("https://{a}.example.com/p/{b}?c={c}", allowsVariables: true)
        let bytes = Array("ab.-_/@:?#%&=\\{}[] \u{e9}0".unicodeScalars)
        var made = 0
        for _ in 0..<20_000 {
            func value() -> String {
                String(
                    String.UnicodeScalarView(
                        (0..<Int.random(in: 1...6, using: &random)).map { _ in bytes.randomElement(using: &random)! }))
            }
            guard let url = try? template.filled(with: ["a": value(), "b": value(), "c": value()]) else { continue }
            made += 1
            #expect(url.host.hasSuffix(".example.com") && url.scheme == "https", "\(url)")
            #expect(url.requestTarget.hasPrefix("/p/") && url.requestTarget.contains("?c="), "\(url)")
            #expect(url.requestTarget.utf8.count(where: { $0 == UInt8(ascii: "/") }) == 2, "\(url)")
        }
        print("property test: \(made) of 20000 random values make an address")
        #expect(made > 100)
    }
}
