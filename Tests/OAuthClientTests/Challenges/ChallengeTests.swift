import HTTPTypes
import OAuthClient
import Testing

/// `WWW-Authenticate` by RFC 9110 §11.6.1.
struct ChallengeTests {
    private func summary(_ values: String...) -> [String] {
        AuthenticationChallenge.all(in: values).map { challenge in
            let parameters = challenge.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            return ([challenge.scheme] + [challenge.token68.map { "[\($0)]" }].compactMap { $0 } + parameters)
                .joined(separator: "|")
        }
    }

    @Test(arguments: [
        ("Bearer", ["bearer"]),
        ("Basic realm=\"simple\"", ["basic|realm=simple"]),
        // The example of §11.6.1, and its list with an empty element before the first parameter.
        (
            "Basic realm=\"simple\", Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\"",
            ["basic|realm=simple", "newauth|realm=apps|title=Login to \"apps\"|type=1"]
        ),
        (
            "Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\", Basic realm=\"simple\"",
            ["newauth|realm=apps|title=Login to \"apps\"|type=1", "basic|realm=simple"]
        ),
        ("Bearer , error=invalid_token", ["bearer|error=invalid_token"]),
        (",, Negotiate ,,Basic realm=x,,", ["negotiate", "basic|realm=x"]),
        ("Negotiate abc+/=", ["negotiate|[abc+/=]"]),
        ("Negotiate a==, DPoP algs=\"ES256 EdDSA\"", ["negotiate|[a==]", "dpop|algs=ES256 EdDSA"]),
        ("Scheme abc", ["scheme|[abc]"]),
        ("Scheme abc=", ["scheme|[abc=]"]),
        ("Bearer error=", ["bearer|[error=]"]),
        ("Scheme abc=def", ["scheme|abc=def"]),
        ("Scheme a = b,\tc\t=\t\"d\"", ["scheme|a=b|c=d"]),
        (
            "dpop ERROR=\"use_dpop_nonce\", Error_Description=\"a, b=c, Basic realm=\\\"x\\\"\"",
            ["dpop|error=use_dpop_nonce|error_description=a, b=c, Basic realm=\"x\""]
        ),
        ("Bearer realm=\"\"", ["bearer|realm="]),
        ("Bearer realm=\"caf\u{E9}\"", ["bearer|realm=caf\u{E9}"]),
    ])
    func whatTheGrammarAllowsIsRead(_ value: String, _ expected: [String]) {
        let challenges = AuthenticationChallenge.all(in: [value]).map { challenge in
            let parameters = challenge.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            return ([challenge.scheme] + [challenge.token68.map { "[\($0)]" }].compactMap { $0 } + parameters)
                .joined(separator: "|")
        }
        #expect(challenges == expected)
    }

    @Test(arguments: [
        "", ",", "=", "=a", "\"", "a=b", "Bearer error=\"x", "Bearer error=\"x\\", "Bearer a b",
        "Bearer error=\"x\"y", "Bearer a=b c=d", "Bearer error=a, error=b", "Bearer error=a, ERROR=a", "Bearer@",
        "Bearer a=\"\u{7F}\"", "Bearer a=\"\u{1}\"", "Bearer abc, d=e",
    ])
    func aChallengeThatCannotBeReadIsLeftOut(_ value: String) {
        #expect(AuthenticationChallenge.all(in: [value]).isEmpty)
    }

    @Test func aBrokenChallengeLeavesTheOthersAlone() {
        #expect(
            summary("Basic realm=\"a\", Bearer error=\"x\"y, foo=bar, DPoP error=use_dpop_nonce, Basic @")
                == ["basic|realm=a", "dpop|error=use_dpop_nonce"])
        #expect(summary("Broken a=\"never ends", "DPoP error=use_dpop_nonce") == ["dpop|error=use_dpop_nonce"])
    }

    @Test func challengesOfSeveralFieldsKeepTheirOrderAndDoNotMix() {
        #expect(summary("Bearer realm=a", "error=b, DPoP c=d", "Basic") == ["bearer|realm=a", "dpop|c=d", "basic"])
        var response = HTTPResponse(status: .unauthorized)
        response.headerFields.append(HTTPField(name: .wwwAuthenticate, value: "Bearer realm=\"a,b\""))
        response.headerFields.append(HTTPField(name: .wwwAuthenticate, value: "DPoP error=\"use_dpop_nonce\""))
        #expect(AuthenticationChallenge.all(in: response).map(\.error) == [nil, .useDPoPNonce])
    }

    @Test func aFloodIsCutOff() {
        let many = Array(repeating: "Bearer a=b", count: 1_000).joined(separator: ",")
        #expect(AuthenticationChallenge.all(in: [many, many]).count == 64)
        #expect(AuthenticationChallenge.all(in: ["Bearer a=\"" + String(repeating: "x", count: 20_000) + "\""]).isEmpty)
        let wide = "Bearer " + (0..<65).map { "p\($0)=v" }.joined(separator: ",")
        #expect(AuthenticationChallenge.all(in: [wide]).isEmpty)
    }

    @Test func noRenderingShowsTheServersTexts() {
        let challenge = AuthenticationChallenge.all(in: ["Bearer error_description=\"CANARY\""])[0]
        #expect(!"\(challenge) \(String(reflecting: challenge))".contains("CANARY"))
        var dumped = ""
        dump(challenge, to: &dumped)
        #expect(!dumped.contains("CANARY"))
    }
}
