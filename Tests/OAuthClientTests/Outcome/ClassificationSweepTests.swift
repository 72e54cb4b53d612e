import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing

/// Every status × body × header × context: the only ways to *dead* are the ones that the table names.
struct ClassificationSweepTests {
    private static let bodies: [String] =
        [
            "", " ", "<html>invalid_grant</html>", "{}", "[]", "null", "{", "\u{FEFF}{}", "invalid_grant",
            Sample.good(), Sample.good(["refresh_token": nil]), Sample.good(["access_token": nil]),
            Sample.good(["access_token": nil, "refresh_token": nil]), Sample.good(["token_type": "\"DPoP\""]),
            contradiction, #"{"error":"INVALID_GRANT"}"#, #"{"error":"invalid_grant "}"#,
            #"{"error":["invalid_grant"]}"#, #"{"error":{"error":"invalid_grant"}}"#, #"{"error":7}"#, #"{"ok":false}"#,
            #"{"error":"invalid_grant","error":"x"}"#, #"{"error":"invalid_grant","suberror":"basic_action"}"#,
            #""{\"error\":\"invalid_grant\"}""#, "error=invalid_grant", "error=invalid_client", "a=b",
        ]
        + [
            "invalid_grant", "invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
            "invalid_request", "interaction_required", "temporarily_unavailable", "server_error", "use_dpop_nonce",
            "invalid_dpop_proof", "bad_refresh_token", "nobody_knows",
        ].map(Sample.error)

    /// Bodies whose error is exactly `invalid_grant`, without tokens beside it and without a mitigating suberror.
    private static let verdicts: Set<String> = [Sample.error("invalid_grant"), "error=invalid_grant"]

    private static let contradiction = Sample.good(["error": "\"invalid_grant\""])

    private static let headers: [[(String, String)]] = [
        [], [("Retry-After", "5")], [("DPoP-Nonce", "fresh")], [("Content-Type", "text/html")],
        [("Content-Type", "application/x-www-form-urlencoded")],
    ]

    private static var contexts: [ClassificationContext] {
        var contexts: [ClassificationContext] = []
        for bits in 0..<32 {
            contexts.append(
                ClassificationContext(
                    expectedTokenType: bits & 1 == 0 ? .bearer : .dpop, inDoubtIntentExisted: bits & 2 != 0,
                    proofWasSent: bits & 4 != 0, scopeWasSent: bits & 8 != 0, isRepeat: bits & 16 != 0))
        }
        return contexts
    }

    @Test func nothingOutsideTheNamedRowsIsDead() {
        var count = 0
        var dead = 0
        for status in 100...599 {
            for body in Self.bodies {
                for header in Self.headers {
                    let reply = EndpointReply.reply(reply(status, body, header))
                    // The whole set of contexts where a verdict is possible; elsewhere a handful is enough to show
                    // that none of them makes one.
                    let contexts = Self.verdicts.contains(body) ? Self.contexts : Self.few
                    for context in contexts {
                        let outcome = classify(reply, context, .rfc)
                        count += 1
                        guard case .dead(let cause) = outcome else { continue }
                        dead += 1
                        let isRow = Self.isDeadRow(status, body, header, context, cause)
                        #expect(isRow, "status \(status), body \(body)")
                    }
                }
            }
        }
        #expect(dead > 0)
        print("classification sweep: \(count) cases, \(dead) dead, all by a named row")
    }

    @Test func everyVerdictInItsRowIsDead() {
        var count = 0
        for status in Array(200...299) + Array(400...499) where status != 429 {
            for body in Self.verdicts {
                for context in Self.contexts {
                    let outcome = classify(.reply(reply(status, body)), context, .rfc)
                    let doubt = context.inDoubtIntentExisted || context.isRepeat
                    #expect(outcome == .dead(doubt ? .lostResponse : .invalidGrant))
                    count += 1
                }
            }
        }
        print("verdict sweep: \(count) cases")
    }

    @Test func noOutcomeOfAReplyForgetsAnEarlierDoubt() {
        var count = 0
        let doubted = ClassificationContext(inDoubtIntentExisted: true)
        for status in 100...599 {
            for body in Self.bodies {
                if case .transient(let failure) = classify(.reply(reply(status, body)), doubted, .rfc) {
                    #expect(failure.keepsDoubt)
                    count += 1
                }
            }
        }
        #expect(count > 1_000)
        print("doubt sweep: \(count) transient outcomes keep it")
    }

    private static let few = [
        ClassificationContext(), ClassificationContext(expectedTokenType: .dpop, proofWasSent: true),
        ClassificationContext(inDoubtIntentExisted: true, isRepeat: true),
        ClassificationContext(rejections: RejectionHistory(count: 8, span: .seconds(1_000_000))),
    ]

    /// Rows 7 and 8, in words of their own.
    private static func isDeadRow(
        _ status: Int, _ body: String, _ header: [(String, String)], _ context: ClassificationContext,
        _ cause: DeadCause
    ) -> Bool {
        let isRefusal = (400...499).contains(status) && status != 429 && !header.contains { $0.0 == "Retry-After" }
        let isAccepted = (200...299).contains(status)
        let doubt = context.inDoubtIntentExisted || context.isRepeat
        // Tokens beside the verdict save a 2xx; a refusal may echo what was sent, and stays one.
        let isVerdict = verdicts.contains(body) || (isRefusal && body == contradiction)
        return (isRefusal || isAccepted) && isVerdict && cause == (doubt ? .lostResponse : .invalidGrant)
    }
}
