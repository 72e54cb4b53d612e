import FoundationEssentials
import OAuthClient
import Testing

/// How the members of a good reply are read (RFC 6749 §5.1).
struct ReplyReadingTests {
    private func tokens(
        _ body: String, rules: ReplyRules = .rfc, identity: IDTokenIdentity? = nil
    ) throws -> IssuedTokens {
        try tokens(Array(body.utf8), rules: rules, identity: identity)
    }

    private func tokens(
        _ body: [UInt8], rules: ReplyRules = .rfc, identity: IDTokenIdentity? = nil
    ) throws -> IssuedTokens {
        let context = ClassificationContext(
            expectedIdentity: identity, startedAt: Sample.start, repliedAt: Sample.start)
        let outcome = classify(.reply(reply(200, bytes: body)), context, rules)
        guard case .success(let tokens) = outcome else {
            Issue.record("not a success: \(outcome)")
            throw OAuthValueError(.malformed, "reply")
        }
        return tokens
    }

    private static let tenYears = Duration.seconds(315_360_000)

    @Test(arguments: [
        ("3600", Duration.seconds(3_600)), ("\"3600\"", .seconds(3_600)), ("\"3600 \"", .seconds(3_600)),
        ("3600.5", .milliseconds(3_600_500)), ("0.5", .milliseconds(500)), ("3.6e3", .seconds(3_600)),
        ("0", .zero), ("-0", .zero), ("1e18", tenYears), ("1e999", tenYears), ("18446744073709551616", tenYears),
        ("315360000", tenYears), ("315360001", tenYears), ("\"1e999\"", tenYears),
    ])
    func lifetimesAreReadInEverySpelling(_ text: String, _ expected: Duration) throws {
        let tokens = try tokens(Sample.good(["expires_in": text]))
        #expect(tokens.expiresIn == expected)
    }

    @Test(arguments: [
        "-1", "-3600", "\"-1\"", "-1e999", "\"soon\"", "\"NaN\"", "\"inf\"", "\"0x10\"", "true", "[]", "{}",
    ])
    func lifetimesThatCannotBeAreUnknownAndTheTokensAreKept(_ text: String) throws {
        let tokens = try tokens(Sample.good(["expires_in": text]))
        #expect(tokens.expiresIn == nil)
        #expect(tokens.anomalies == [.unusableLifetime])
        #expect(tokens.refreshToken != nil)
    }

    @Test func anAssumedLifetimeIsToldApart() throws {
        let rules = ReplyRules(assumedLifetime: .seconds(600))
        #expect(try tokens(Sample.good(["expires_in": nil]), rules: rules).isLifetimeAssumed)
        #expect(try tokens(Sample.good(["expires_in": "-1"]), rules: rules).isLifetimeAssumed)
        #expect(try !tokens(Sample.good(), rules: rules).isLifetimeAssumed)
        #expect(try !tokens(Sample.good(["expires_in": nil])).isLifetimeAssumed)
    }

    @Test func membersThatTheProfileKeepsAreKept() throws {
        var rules = ReplyRules.rfc
        rules.keptMembers = ["instance_url", "number", "flag", "missing", "list", "empty", "control", "long"]
        let tokens = try tokens(
            Sample.good([
                "instance_url": #""https://eu1.example""#, "number": "4711", "flag": "true", "list": "[1]",
                "empty": #""""#, "control": #""a\nb""#, "other": #""x""#,
                "long": "\"" + String(repeating: "x", count: 2_049) + "\"",
            ]), rules: rules)
        #expect(tokens.attributes == ["instance_url": "https://eu1.example", "number": "4711", "flag": "true"])
        #expect(try self.tokens(Sample.good(["instance_url": #""x""#])).attributes.isEmpty)
    }

    @Test(arguments: [nil, "null", "\"\""])
    func missingLifetimeIsUnknownUnlessAssumedByProfile(_ text: String?) throws {
        #expect(try tokens(Sample.good(["expires_in": text])).expiresIn == nil)
        let rules = ReplyRules(assumedLifetime: .seconds(600))
        #expect(try tokens(Sample.good(["expires_in": text]), rules: rules).expiresIn == .seconds(600))
        #expect(try tokens(Sample.good(), rules: rules).expiresIn == .seconds(3_600))
    }

    @Test(arguments: [
        (LifetimeMember("expires_in", .milliseconds), "3600000"),
        (LifetimeMember("expires_at", .epochSeconds), "1700003600"),
        (LifetimeMember("expires_at", .epochSeconds), "\"1700003600\""),
        (LifetimeMember("expires_at", .epochMilliseconds), "1700003600000"),
        (LifetimeMember("expires_at", .epochSeconds), "\"2023-11-14T23:13:20Z\""),
        (LifetimeMember("expires_at", .epochSeconds), "\"2023-11-15T01:13:20.25+02:00\""),
    ])
    func profilesNameOtherMembersAndUnits(_ member: LifetimeMember, _ text: String) throws {
        var changes: [String: String?] = ["expires_in": nil]
        changes[member.name] = text
        #expect(try tokens(Sample.good(changes), rules: ReplyRules(lifetimes: [member])).expiresIn == .seconds(3_600))
    }

    @Test func anInstantThatIsOverHasExpired() throws {
        let rules = ReplyRules(lifetimes: [LifetimeMember("expires_at", .epochSeconds)])
        #expect(try tokens(Sample.good(["expires_at": "1600000000"]), rules: rules).expiresIn == .zero)
    }

    @Test(arguments: ["refresh_token_expires_in", "refresh_expires_in", "x_refresh_token_expires_in"])
    func refreshLifetimesHaveThreeNames(_ name: String) throws {
        #expect(try tokens(Sample.good([name: "86400"])).refreshExpiresIn == .seconds(86_400))
        #expect(try tokens(Sample.good([name: "0"])).refreshExpiresIn == nil)
        #expect(try tokens(Sample.good([name: "-1"])).refreshExpiresIn == nil)
    }

    @Test(arguments: [nil, "null", "\"\""])
    func aMissingRefreshTokenKeepsTheOldOne(_ text: String?) throws {
        let tokens = try tokens(Sample.good(["refresh_token": text]))
        #expect(tokens.refreshToken == nil)
        #expect(tokens.anomalies.isEmpty)
    }

    @Test(arguments: ["7", "true", "{}", "[\"a\"]"])
    func aRefreshTokenThatCannotBeSentIsReported(_ text: String) throws {
        let tokens = try tokens(Sample.good(["refresh_token": text]))
        #expect(tokens.refreshToken == nil)
        #expect(tokens.anomalies == [.unusableRefreshToken])
    }

    @Test func tokensOfEverySizeUpTo64KiBAreTaken() throws {
        for count in [1, 2, 1_000, 65_535, 65_536] {
            let token = String(repeating: "t", count: count)
            let tokens = try tokens(Sample.good(["access_token": "\"\(token)\""]))
            #expect(tokens.accessToken.reveal() == token)
        }
        let long = String(repeating: "t", count: 65_537)
        let body = reply(200, Sample.good(["access_token": "\"\(long)\"", "refresh_token": nil]))
        #expect(classify(.reply(body), ClassificationContext(), .rfc) == .inDoubt(.unusableTokens))
    }

    @Test func aTokenOfOneMiBIsNotRead() {
        let long = String(repeating: "t", count: 1_048_576)
        let body = reply(200, Sample.good(["access_token": "\"\(long)\""]))
        #expect(classify(.reply(body), ClassificationContext(), .rfc) == .inDoubt(.unreadableBody))
    }

    @Test func tokensMayHoldSpacesAndEscapes() throws {
        let tokens = try tokens(Sample.good(["access_token": #""a b\/c\u0041\"""#]))
        #expect(tokens.accessToken.reveal() == "a b/cA\"")
    }

    @Test func scopesAreReadAsTextListOrProfileSays() throws {
        #expect(try tokens(Sample.good()).scope == nil)
        #expect(try tokens(Sample.good(["scope": "\"read write read\""])).scope?.tokens == ["read", "write"])
        #expect(try tokens(Sample.good(["scope": #"["read","write"]"#])).scope?.tokens == ["read", "write"])
        let comma = ReplyRules(scopeSeparator: ",")
        #expect(try tokens(Sample.good(["scope": "\"read,write\""]), rules: comma).scope?.tokens == ["read", "write"])
        let odd = try tokens(Sample.good(["scope": "\"a\\u0001b\""]))
        #expect(odd.scope == nil)
        #expect(odd.anomalies == [.unusableScope])
    }

    @Test func aMissingTokenTypeIsBearerAndReported() throws {
        let tokens = try tokens(Sample.good(["token_type": nil]))
        #expect(tokens.tokenType == .bearer)
        #expect(tokens.anomalies == [.missingTokenType])
    }

    @Test func otherWordsForATokenTypeComeFromTheProfile() throws {
        let rules = ReplyRules(tokenTypeAliases: ["user": .bearer])
        #expect(try tokens(Sample.good(["token_type": "\"User\""]), rules: rules).tokenType == .bearer)
    }

    @Test func formRepliesAreRead() throws {
        let body =
            "access_token=access-CANARY-1&expires_in=3600&refresh_token=r%2Bt%3D+x&scope=a%20b&token_type=bearer\n"
        let tokens = try tokens(body)
        #expect(tokens.accessToken.reveal() == Sample.access)
        #expect(tokens.refreshToken?.reveal() == "r+t= x")
        #expect(tokens.expiresIn == .seconds(3_600))
        #expect(tokens.scope?.tokens == ["a", "b"])
    }

    @Test func aByteOrderMarkAndAnyContentTypeDoNotLoseTokens() throws {
        #expect(try tokens([0xEF, 0xBB, 0xBF] + Array(Sample.good().utf8)).refreshToken != nil)
        let html = reply(200, Sample.good(), [("Content-Type", "text/html")])
        guard case .success = classify(.reply(html), ClassificationContext(), .rfc) else {
            Issue.record("the content type was believed rather than the content")
            return
        }
    }

    @Test(arguments: ["Access_Token", "ACCESS_TOKEN", "\\u0430ccess_token", "access_token "])
    func memberNamesAreMatchedLetterByLetter(_ name: String) {
        let body = reply(200, "{\"\(name)\":\"a\",\"token_type\":\"Bearer\"}")
        #expect(classify(.reply(body), ClassificationContext(), .rfc) == .inDoubt(.unusableTokens))
    }

    @Test func repeatedRefreshTokenIsInDoubtUnlessEqual() throws {
        let two = #"{"access_token":"a","token_type":"Bearer","refresh_token":"x","refresh_token":"y"}"#
        #expect(classify(.reply(reply(200, two)), ClassificationContext(), .rfc) == .inDoubt(.unreadableBody))
        let equal = #"{"access_token":"a","token_type":"Bearer","refresh_token":"x","refresh_token":"x"}"#
        #expect(try tokens(equal).refreshToken?.reveal() == "x")
        let form = "access_token=a&token_type=Bearer&refresh_token=x&refresh_token=y"
        #expect(classify(.reply(reply(200, form)), ClassificationContext(), .rfc) == .inDoubt(.unreadableBody))
        let escaped = #"{"access_token":"a","token_type":"Bearer","refresh_token":"x","refresh\u005ftoken":"y"}"#
        #expect(classify(.reply(reply(200, escaped)), ClassificationContext(), .rfc) == .inDoubt(.unreadableBody))
    }

    @Test func duplicatesThatNobodyReadsDoNotLoseTokens() throws {
        #expect(try tokens(Sample.good(["x": "1,\"x\":2"])).refreshToken != nil)
    }

    // MARK: id tokens

    private func idToken(_ claims: String) -> String {
        "\"e30.\(Base64URL.encode(claims.utf8)).c2ln\""
    }

    @Test func anIDTokenOfTheSameSubjectIsKept() throws {
        let token = idToken(#"{"iss":"https://a.example","sub":"alice"}"#)
        let expected = IDTokenIdentity(subject: "alice", issuer: "https://a.example")
        let tokens = try tokens(Sample.good(["id_token": token]), identity: expected)
        #expect(tokens.identity == expected)
        #expect(tokens.idToken != nil)
        #expect(try self.tokens(Sample.good(["id_token": token])).identity == expected)
        let anyIssuer = IDTokenIdentity(subject: "alice", issuer: nil)
        #expect(try self.tokens(Sample.good(["id_token": token]), identity: anyIssuer).idToken != nil)
    }

    @Test(arguments: [
        #"{"iss":"https://a.example","sub":"mallory"}"#, #"{"iss":"https://b.example","sub":"alice"}"#,
    ])
    func changedIdentityIsRefusedButRefreshTokenIsKept(_ claims: String) throws {
        let context = ClassificationContext(
            expectedIdentity: IDTokenIdentity(subject: "alice", issuer: "https://a.example"))
        let body = Sample.good(["id_token": idToken(claims)])
        let refresh = try RefreshToken(Sample.refresh)
        #expect(
            classify(.reply(reply(200, body)), context, .rfc)
                == .partial(PartialTokens(refreshToken: refresh, cause: .identityChanged)))
        let alone = Sample.good(["id_token": idToken(claims), "refresh_token": nil])
        #expect(classify(.reply(reply(200, alone)), context, .rfc) == .inDoubt(.identityChanged))
    }

    @Test(arguments: ["\"not-a-jwt\"", "\"a.b.c\"", "\"a.b.c.d.e\"", "7", "\"e30.W10.c2ln\"", "\"e30.e30.c2ln\""])
    func anIDTokenThatCannotBeReadIsDropped(_ token: String) throws {
        let tokens = try tokens(
            Sample.good(["id_token": token]), identity: IDTokenIdentity(subject: "alice", issuer: nil))
        #expect(tokens.idToken == nil)
        #expect(tokens.identity == nil)
        #expect(tokens.anomalies == [.unusableIDToken])
    }

    @Test func aGoodReplyCutAnywhereNeverBecomesAnotherSuccess() {
        let body = Array(Sample.good().utf8)
        for end in 0..<body.count {
            let cut = reply(200, bytes: Array(body[..<end]))
            #expect(classify(.reply(cut), ClassificationContext(), .rfc) == .inDoubt(.unreadableBody))
        }
        print("truncation sweep: \(body.count) lengths")
    }
}
