import Foundation
import OAuthClient
import ProviderProfiles
import Testing

struct ProviderProfileTests {
    @Test(arguments: RecordedReply.all)
    func aRecordedReplyMeansWhatItsFileSays(recorded: RecordedReply) throws {
        let profile = try ProviderProfile.named(recorded.profile)
        let context = ClassificationContext(
            expectedTokenType: recorded.given.contains("dpop") ? .dpop : .bearer,
            inDoubtIntentExisted: recorded.given.contains("doubt"), grantIsNew: recorded.given.contains("code"),
            proofWasSent: recorded.given.contains("dpop"), startedAt: Sample.start, repliedAt: Sample.start)
        #expect(classify(.reply(recorded.reply), context, profile.reply).words == recorded.expected)
        #expect(recorded.source.hasPrefix("Synthetic, 20"), "a recorded reply says where it comes from, and when")
    }

    @Test func everyShippedProfileIsReadNamedAndRecorded() throws {
        let recorded = Dictionary(grouping: RecordedReply.all, by: \.profile)
        for file in ShippedProfiles.files {
            let profile = try ProviderProfile(parsing: file.text, file: "\(file.name).json")
            #expect(profile.name == file.name)
            #expect(!profile.sources.isEmpty)
            #expect(file.text.count <= 8_192, "\(file.name) is too long to be embedded")
            let replies = recorded[file.name] ?? []
            #expect(replies.count >= 3, "\(file.name) has \(replies.count) recorded replies")
            #expect(replies.contains { $0.expected.hasPrefix("success") })
            #expect(replies.contains { $0.expected.hasPrefix("dead") })
        }
        #expect(ProviderProfile.shipped.count == ShippedProfiles.files.count)
        #expect(ProviderProfile.shipped.count == 50)
        print("profiles: \(ProviderProfile.shipped.count), recorded replies: \(RecordedReply.all.count)")
    }

    /// What Entra's numbers mean where its error alone would mislead, and that the others change nothing.
    @Test(arguments: [
        ("invalid_grant", "70000", "dead invalidGrant"), ("invalid_grant", "70008", "dead invalidGrant"),
        ("invalid_grant", "700082", "dead invalidGrant"), ("invalid_grant", "700084", "dead invalidGrant"),
        ("invalid_grant", "50173", "dead invalidGrant"), ("invalid_grant", "50078,700082", "dead invalidGrant"),
        ("invalid_grant", "50076", "needsUser"), ("invalid_grant", "50079", "needsUser"),
        ("invalid_grant", "65001", "needsUser"), ("invalid_grant", "50055", "needsUser"),
        ("interaction_required", "53003", "needsUser"), ("access_denied", "53003", "needsUser"),
        ("invalid_client", "7000215", "clientRefused"), ("invalid_client", "7000222", "clientRefused"),
        ("unauthorized_client", "700016", "misconfigured"), ("invalid_resource", "90009", "misconfigured"),
        ("invalid_request", "90033", "transient temporary"), ("invalid_grant", "50196", "transient temporary"),
        ("invalid_request", "90024", "transient temporary"), ("invalid_grant", "0", "dead invalidGrant"),
    ])
    func anEntraNumberIsReadWhereItsErrorMisleads(error: String, numbers: String, expected: String) throws {
        let body =
            #"{"error":"\#(error)","error_description":"AADSTS\#(numbers): words","error_codes":[\#(numbers)]}"#
        let context = ClassificationContext(
            expectedTokenType: .bearer, inDoubtIntentExisted: false, grantIsNew: false, proofWasSent: false,
            startedAt: Sample.start, repliedAt: Sample.start)
        let answer = reply(400, body, [("Content-Type", "application/json")])
        #expect(classify(.reply(answer), context, try ProviderProfile.named("entra").reply).words == expected)
    }

    @Test func theGenericProfileIsTheRFC() throws {
        let generic = try ProviderProfile.named("generic")
        #expect(generic.reply == .rfc)
        #expect(generic.style == .rfc)
        #expect(generic.httpLimits == .tokenEndpoint)
        #expect(generic.revocation == .init())
        #expect(ProviderProfile.generic.reply == .rfc)
        #expect(ProviderProfile.generic.refresh == generic.refresh)
    }

    @Test func whatToolsAskOfAProfileIsReadable() throws {
        let own = try parse(
            #""refresh":{"maximumTokens":20,"idleSeconds":100,"absoluteSeconds":200,"assumedAccessSeconds":60},"#
                + #""limits":{"requestsPerMinute":30,"concurrentRequests":2},"notVerified":["refresh.idleSeconds"],"#
                + #""reply":{"keep":["api_domain"],"introspectsLifetime":true}"#)
        #expect(own.maximumTokens == 20)
        #expect(own.idleLifetime == .seconds(100))
        #expect(own.absoluteLifetime == .seconds(200))
        #expect(own.assumedLifetime == .seconds(60))
        #expect(own.requestsPerMinute == 30)
        #expect(own.concurrentRequests == 2)
        #expect(own.keptMembers == ["api_domain"])
        #expect(own.introspectsLifetime)
        #expect(own.notVerified == ["refresh.idleSeconds"])
        #expect(try ProviderProfile.named("zoho").maximumTokens == 20)
    }

    @Test func whatNoSourceSaysIsMarked() throws {
        for file in ShippedProfiles.files {
            let profile = try ProviderProfile(parsing: file.text, file: "\(file.name).json")
            let text = try #require(try JSONSerialization.jsonObject(with: Data(file.text)) as? [String: Any])
            for field in profile.notVerified {
                let parts = field.split(separator: ".").map(String.init)
                let section = text[parts[0]] as? [String: Any]
                #expect(section != nil && (parts.count == 1 || section?[parts[1]] != nil), "\(file.name): \(field)")
            }
        }
    }

    @Test(arguments: Refusal.all)
    func aProfileIsRefusedWithItsFileAndField(refusal: Refusal) {
        #expect(throws: ProfileError(refusal.code, file: "own.json", field: refusal.field)) {
            do {
                _ = try parse(refusal.text)
            } catch let error as ProfileError {
                #expect(error.description.hasPrefix("own.json"))
                throw ProfileError(error.code, file: error.file, field: error.field)
            }
        }
    }

    @Test func aProfileIsRefusedWhole() {
        func code(_ text: String) -> ProfileError.Code? {
            do throws(ProfileError) {
                _ = try ProviderProfile(parsing: Array(text.utf8), file: "own.json")
                return nil
            } catch {
                return error.code
            }
        }
        #expect(code("[]") == .notJSON)
        #expect(code("{") == .notJSON)
        #expect(code("{}") == .missing)
        #expect(code(String(repeating: " ", count: 70_000)) == .tooLarge)
        #expect(throws: ProfileError(.unknownProfile, file: "nobody")) { try ProviderProfile.named("nobody") }
    }
}

private func parse(_ more: String) throws(ProfileError) -> ProviderProfile {
    let defaults = [
        "profile": "1", "name": "\"own\"", "source": #"[{"url":"https://example.com","read":"2026-01-31"}]"#,
    ]
    let own = defaults.filter { !more.hasPrefix("\"\($0.key)\":") }.map { "\"\($0.key)\":\($0.value)" }
    let text = "{" + (own.sorted() + [more]).filter { !$0.isEmpty }.joined(separator: ",") + "}"
    return try ProviderProfile(parsing: Array(text.utf8), file: "own.json")
}

/// A profile that is not taken, and the field that must be named.
struct Refusal: Sendable, CustomStringConvertible {
    let text: String
    let code: ProfileError.Code
    let field: String

    var description: String { text }

    init(_ text: String, _ code: ProfileError.Code, _ field: String) {
        self.text = text
        self.code = code
        self.field = field
    }

    private static let shop = #""variables":{"shop":{"says":"a shop's name","example":"acme"}}"#

    static let all = [
        Refusal(#""profile":3"#, .notAllowed, "profile"),
        Refusal(#""profile":"1""#, .wrongType, "profile"),
        Refusal(#""name":"Own""#, .notAllowed, "name"),
        Refusal(#""name":7"#, .wrongType, "name"),
        Refusal(#""source":[]"#, .missing, "source"),
        Refusal(#""source":[{"url":"https://example.com"}]"#, .missing, "source[0].read"),
        Refusal(#""source":[{"url":"u","read":"yesterday"}]"#, .notAllowed, "source[0].read"),
        Refusal(#""colour":"red""#, .unknownField, "colour"),
        Refusal(#""refresh":{"graceSecond":1}"#, .unknownField, "refresh.graceSecond"),
        Refusal(#""refresh":{"graceSeconds":1,"graceSeconds":1}"#, .givenTwice, "refresh.graceSeconds"),
        Refusal(#""refresh":{"graceSeconds":"1"}"#, .wrongType, "refresh.graceSeconds"),
        Refusal(#""refresh":{"graceSeconds":1.5}"#, .wrongType, "refresh.graceSeconds"),
        Refusal(#""refresh":{"graceSeconds":-1}"#, .notAllowed, "refresh.graceSeconds"),
        Refusal(#""refresh":{"rotation":"often"}"#, .notAllowed, "refresh.rotation"),
        Refusal(#""refresh":[]"#, .wrongType, "refresh"),
        Refusal(
            #""refresh":{"rotation":"never","reuseBlast":"none","graceSeconds":5}"#, .contradiction,
            "refresh.graceSeconds"),
        Refusal(#""refresh":{"rotation":"never"}"#, .contradiction, "refresh.reuseBlast"),
        Refusal(#""refresh":{"idleSeconds":200,"absoluteSeconds":100}"#, .contradiction, "refresh.idleSeconds"),
        Refusal(#""endpoints":{"token":"http://example.com"}"#, .notAllowed, "endpoints.token"),
        Refusal(#""endpoints":{"token":"https://example.com/{client_id}"}"#, .notAllowed, "endpoints.token"),
        Refusal(#""endpoints":{"token":"https://{shop}.example.com/"}"#, .notAllowed, "endpoints.token"),
        Refusal(#""variables":{"shop":{"says":"a shop"}}"#, .missing, "variables.shop.example"),
        Refusal(#""variables":{"a shop":{"says":"a shop","example":"a"}}"#, .notAllowed, "variables.a shop"),
        Refusal(#""variables":{"client_id":{"says":"s","example":"a"}}"#, .notAllowed, "variables.client_id"),
        Refusal(#""variables":{"shop":{"says":"s","example":"a.b"}}"#, .contradiction, "variables.shop.example"),
        Refusal(
            #""variables":{"shop":{"says":"s","example":"a","pattern":"("}}"#, .notAllowed, "variables.shop.pattern"),
        Refusal(
            Self.shop + #","endpoints":{"token":"https://{shop}example.com/"}"#, .notAllowed, "endpoints.token"),
        Refusal(Self.shop + #","endpoints":{"token":"https://api.{shop}.com/"}"#, .notAllowed, "endpoints.token"),
        Refusal(Self.shop + #","endpoints":{"token":"https://api.{shop}/"}"#, .notAllowed, "endpoints.token"),
        Refusal(Self.shop + #","endpoints":{"token":"https://{shop}/"}"#, .contradiction, "variables"),
        Refusal(Self.shop + #","endpoints":{"token":"https://{shop}.com/"}"#, .notAllowed, "endpoints.token"),
        Refusal(Self.shop + #","endpoints":{"token":"https://a.example:{shop}/"}"#, .notAllowed, "endpoints.token"),
        Refusal(Self.shop + #","reply":{"keep":["shop"]}"#, .contradiction, "variables.shop"),
        Refusal(
            #""request":{"tokenParameters":{"a":"{shop}"}}"#, .notAllowed, "request.tokenParameters.a"),
        Refusal(#""request":{"names":{"client_id":"state"}}"#, .contradiction, "request.names"),
        Refusal(#""request":{"names":{"client_id":"a","scope":"a"}}"#, .contradiction, "request.names"),
        Refusal(#""callback":{"keep":["code"]}"#, .notAllowed, "callback.keep"),
        Refusal(#""callback":{"keep":["state"]}"#, .notAllowed, "callback.keep"),
        Refusal(#""reply":{"keep":["user.access_token"]}"#, .notAllowed, "reply.keep"),
        Refusal(#""reply":{"successMember":{"name":"status"}}"#, .missing, "reply.successMember.is"),
        Refusal(#""reply":{"lifetimes":[{"name":"x","clock":"absolute"}]}"#, .notAllowed, "reply.lifetimes[0].clock"),
        Refusal(#""refresh":{"graceEnds":"replacementUsed"}"#, .contradiction, "refresh.graceEnds"),
        Refusal(#""refresh":{"chain":"accessToken"}"#, .contradiction, "refresh.grantType"),
        Refusal(#""refresh":{"chain":"accessToken","idleSeconds":60}"#, .contradiction, "refresh.chain"),
        Refusal(#""request":{"body":"json"},"refresh":{"method":"GET"}"#, .contradiction, "refresh.method"),
        Refusal(
            #""refresh":{"first":{"endpoint":"http://a.example","grantType":"g","parameter":"p"}}"#, .notAllowed,
            "refresh.first.endpoint"),
        Refusal(#""resource":{"header":"Cookie"}"#, .notAllowed, "resource.header"),
        Refusal(#""resource":{"scheme":"a b"}"#, .notAllowed, "resource.scheme"),
        Refusal(#""errors":{"temporaryStatuses":[400]}"#, .contradiction, "errors.temporaryStatuses"),
        Refusal(#""client":{"pkce":"sometimes"}"#, .notAllowed, "client.pkce"),
        Refusal(#""client":{"authentication":["client_secret_jwt"]}"#, .notAllowed, "client.authentication"),
        Refusal(#""request":{"scopeSeparator":"&"}"#, .notAllowed, "request.scopeSeparator"),
        Refusal(#""request":{"body":"xml"}"#, .notAllowed, "request.body"),
        Refusal(
            #""request":{"refreshParameters":{"refresh_token":"x"}}"#, .notAllowed,
            "request.refreshParameters.refresh_token"),
        Refusal(#""request":{"refreshParameters":{"a":1}}"#, .wrongType, "request.refreshParameters.a"),
        Refusal(#""reply":{"tokenTypes":{"bot":"robot"}}"#, .notAllowed, "reply.tokenTypes.bot"),
        Refusal(#""reply":{"format":"form","tokenPath":["a"]}"#, .contradiction, "reply.tokenPath"),
        Refusal(#""reply":{"lifetimes":[{"unit":"seconds"}]}"#, .missing, "reply.lifetimes[0].name"),
        Refusal(#""reply":{"lifetimes":[{"name":"x","unit":"days"}]}"#, .notAllowed, "reply.lifetimes[0].unit"),
        Refusal(#""reply":{"otherLogins":[{"label":"user"}]}"#, .missing, "reply.otherLogins[0].path"),
        Refusal(#""reply":{"keep":["refresh_token"]}"#, .notAllowed, "reply.keep"),
        Refusal(#""reply":{"keep":["a","a"]}"#, .givenTwice, "reply.keep"),
        Refusal(
            #""reply":{"keep":["a","b","c","d","e","f","g","h","i","j","k","l","m","n","o","p","q"]}"#, .notAllowed,
            "reply.keep"),
        Refusal(#""reply":{"introspectsLifetime":"yes"}"#, .wrongType, "reply.introspectsLifetime"),
        Refusal(#""endpoints":{"introspection":"http://example.com"}"#, .notAllowed, "endpoints.introspection"),
        Refusal(#""revocation":{"doneCodes":["a\\b"]}"#, .notAllowed, "revocation.doneCodes"),
        Refusal(#""limits":{"concurrentRequests":0}"#, .notAllowed, "limits.concurrentRequests"),
        Refusal(#""limits":{"requestsPerMinute":0}"#, .notAllowed, "limits.requestsPerMinute"),
        Refusal(#""refresh":{"maximumTokens":0}"#, .notAllowed, "refresh.maximumTokens"),
        Refusal(#""notVerified":"all""#, .wrongType, "notVerified"),
        Refusal(#""client":{"assertionAlgorithm":"HS256"}"#, .notAllowed, "client.assertionAlgorithm"),
        Refusal(#""idToken":{"issuers":["https://{tid}.example/"]}"#, .notAllowed, "idToken.issuers"),
        Refusal(#""idToken":{"issuers":["https://a.example/{b}/{c}"]}"#, .notAllowed, "idToken.issuers"),
        Refusal(#""resource":{"refusedStatuses":[200]}"#, .notAllowed, "resource.refusedStatuses"),
        Refusal(#""resource":{"refusedStatuses":[429]}"#, .notAllowed, "resource.refusedStatuses"),
        Refusal(#""resource":{"refusedCodes":["a"]}"#, .contradiction, "resource.refusedCodes"),
        Refusal(#""resource":{"codeStatuses":[200]}"#, .contradiction, "resource.refusedCodes"),
        Refusal(
            #""resource":{"refusedStatuses":[401],"codeMembers":["error"]}"#, .contradiction, "resource.refusedCodes"),
        Refusal(#""resource":{"statuses":[401]}"#, .unknownField, "resource.statuses"),
        Refusal(#""errors":{"dead":["a"],"misconfigured":["a"]}"#, .contradiction, "errors.misconfigured"),
        Refusal(#""errors":{"dead":"a"}"#, .wrongType, "errors.dead"),
        Refusal(#""errors":{"dead":["a\"b"]}"#, .notAllowed, "errors.dead"),
        Refusal(#""errors":{"bareDeadStatuses":[200]}"#, .notAllowed, "errors.bareDeadStatuses"),
        Refusal(#""errors":{"rejectionLimit":{"count":0}}"#, .notAllowed, "errors.rejectionLimit.count"),
        Refusal(#""dpop":{"usage":"never","requiresNonce":true}"#, .contradiction, "dpop.requiresNonce"),
        Refusal(#""dpop":{"usage":"required","acceptsDowngrade":true}"#, .contradiction, "dpop.acceptsDowngrade"),
        Refusal(#""dpop":{"requiresNonce":1}"#, .wrongType, "dpop.requiresNonce"),
        Refusal(#""revocation":{"carrier":"bearer"}"#, .contradiction, "revocation.target"),
        Refusal(#""revocation":{"reach":"everything"}"#, .notAllowed, "revocation.reach"),
        Refusal(#""revocation":{"method":"GET"}"#, .notAllowed, "revocation.method"),
        Refusal(#""limits":{"connectSeconds":100}"#, .contradiction, "limits.connectSeconds"),
        Refusal(#""limits":{"requestsPerMinute":0}"#, .notAllowed, "limits.requestsPerMinute"),
    ]
}
