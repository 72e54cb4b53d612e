import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing

/// One test per row of the table of outcomes; the names carry the row's number.
struct ClassificationTests {
    private func classified(
        _ reply: HTTPReply, _ change: (inout ClassificationContext) -> Void = { _ in }, rules: ReplyRules = .rfc
    ) -> TokenOutcome {
        var context = ClassificationContext(startedAt: Sample.start, repliedAt: Sample.start.addingTimeInterval(1))
        change(&context)
        return classify(.reply(reply), context, rules)
    }

    @Test(arguments: [HTTPTransportError.Code.dns, .connect, .tls, .timeout, .cancelled])
    func row1NotSentIsTransient(_ code: HTTPTransportError.Code) {
        let outcome = classify(.failure(HTTPTransportError(.notSent, code)), ClassificationContext(), .rfc)
        #expect(outcome == .transient(TransientFailure(.notSent(code))))
        let doubted = classify(
            .failure(HTTPTransportError(.notSent, code)), ClassificationContext(inDoubtIntentExisted: true), .rfc)
        #expect(doubted == .transient(TransientFailure(.notSent(code), keepsDoubt: true)))
    }

    @Test(arguments: [HTTPTransportError.Code.timeout, .reset, .truncated, .tooLarge, .cancelled, .protocolViolation])
    func row2MaybeSentIsInDoubt(_ code: HTTPTransportError.Code) {
        let outcome = classify(.failure(HTTPTransportError(.maybeSent, code)), ClassificationContext(), .rfc)
        #expect(outcome == .inDoubt(.transport(code)))
    }

    @Test func row3ThrottlingIsTransientWhateverTheBodySays() {
        #expect(
            classified(reply(429, Sample.error("invalid_grant")))
                == .transient(TransientFailure(.throttled(status: 429))))
        #expect(
            classified(reply(400, Sample.error("invalid_grant"), [("Retry-After", "120")]))
                == .transient(TransientFailure(.throttled(status: 400), retryAfter: .seconds(120))))
        #expect(
            classified(reply(403, "", [("Retry-After", "rubbish")]))
                == .transient(TransientFailure(.throttled(status: 403))))
    }

    @Test func row3AnOverloadedServerHasNotLookedAtTheToken() {
        for header in ["120", "rubbish"] {
            let outcome = classified(reply(503, Sample.error("invalid_grant"), [("Retry-After", header)]))
            let delay: Duration? = header == "120" ? .seconds(120) : nil
            #expect(outcome == .transient(TransientFailure(.throttled(status: 503), retryAfter: delay)))
        }
        // An earlier doubt stays, and no other failure of a server is as harmless.
        let doubted = classified(reply(503, "", [("Retry-After", "1")])) { $0.inDoubtIntentExisted = true }
        #expect(
            doubted
                == .transient(
                    TransientFailure(.throttled(status: 503), retryAfter: .seconds(1), keepsDoubt: true)))
        for status in [500, 502, 504] {
            let outcome = classified(reply(status, "", [("Retry-After", "120")]))
            #expect(
                outcome
                    == .transient(
                        TransientFailure(.serverError(status: status), retryAfter: .seconds(120), keepsDoubt: true)))
        }
        let unprocessed: [TransientCause] = [.notSent(.connect), .throttled(status: 429), .throttled(status: 503)]
        #expect(unprocessed.count { $0.isUnprocessed } == 3)
        let processed: [TransientCause] = [.throttled(status: 400), .serverError(status: 503), .unclassifiedError]
        #expect(processed.count { $0.isUnprocessed } == 0)
    }

    @Test func row3AGoodReplyWithRetryAfterIsSuccess() {
        guard case .success = classified(reply(200, Sample.good(), [("Retry-After", "60")])) else {
            Issue.record("a good reply was thrown away")
            return
        }
    }

    @Test(arguments: [500, 501, 502, 503, 504, 599])
    func row3aAServerErrorKeepsTheDoubtUnlessNothingRotates(_ status: Int) {
        let reply = reply(status, Sample.error("invalid_grant"))
        #expect(
            classified(reply) == .transient(TransientFailure(.serverError(status: status), keepsDoubt: true)))
        #expect(
            classified(reply, rules: ReplyRules(rotation: .never))
                == .transient(TransientFailure(.serverError(status: status), keepsDoubt: false)))
    }

    @Test(arguments: [400, 401])
    func row4ANewNonceIsToBeUsed(_ status: Int) throws {
        let nonce = try #require(DPoPNonce("fresh"))
        let reply = reply(status, Sample.error("use_dpop_nonce"), [("DPoP-Nonce", "fresh")])
        #expect(classified(reply) { $0.proofWasSent = true } == .nonceRequired(nonce))
        let other = classified(reply) {
            $0.proofWasSent = true
            $0.sentNonce = DPoPNonce("stale")
        }
        #expect(other == .nonceRequired(nonce))
    }

    @Test func row4NonceDemandWithoutDPoPIsMisconfiguration() {
        let reply = reply(400, Sample.error("use_dpop_nonce"), [("DPoP-Nonce", "fresh")])
        #expect(classified(reply) == .misconfigured(.refused(.useDPoPNonce)))
    }

    @Test func row4aANonceThatIsMissingOrTheSameIsAProtocolFault() {
        let missing = classified(reply(400, Sample.error("use_dpop_nonce"))) { $0.proofWasSent = true }
        #expect(missing == .transient(TransientFailure(.nonceMissing)))
        let twice = classified(
            reply(400, Sample.error("use_dpop_nonce"), [("DPoP-Nonce", "one"), ("DPoP-Nonce", "two")])
        ) { $0.proofWasSent = true }
        #expect(twice == .transient(TransientFailure(.nonceMissing)))
        let same = classified(reply(400, Sample.error("use_dpop_nonce"), [("DPoP-Nonce", "same")])) {
            $0.proofWasSent = true
            $0.sentNonce = DPoPNonce("same")
        }
        #expect(same == .transient(TransientFailure(.nonceRepeated)))
        let loop = classified(reply(400, Sample.error("use_dpop_nonce"), [("DPoP-Nonce", "third")])) {
            $0.proofWasSent = true
            $0.proofWasRepeated = true
            $0.nonceRepeats = 5
            $0.isRepeat = true
            $0.sentNonce = DPoPNonce("second")
        }
        #expect(loop == .transient(TransientFailure(.nonceRepeated, keepsDoubt: true)))
    }

    @Test func row5ARefusedProofIsMendedByANonceOrAClock() throws {
        let nonce = try #require(DPoPNonce("fresh"))
        let body = Sample.error("invalid_dpop_proof")
        let sent = { (context: inout ClassificationContext) in context.proofWasSent = true }
        #expect(
            classified(reply(400, body, [("DPoP-Nonce", "fresh")]), sent) == .invalidProof(.nonce(nonce)))
        // Sample.start is Tue, 14 Nov 2023 22:13:20 GMT.
        let ahead = [("Date", "Tue, 14 Nov 2023 22:13:50 GMT")]
        #expect(classified(reply(400, body, ahead), sent) == .invalidProof(.clock(.milliseconds(29_500))))
        let near = [("Date", "Tue, 14 Nov 2023 22:13:23 GMT")]
        #expect(classified(reply(400, body, near), sent) == .invalidProof(.none))
        #expect(classified(reply(400, body), sent) == .invalidProof(.none))
        let repeated = classified(reply(400, body, ahead)) {
            $0.proofWasSent = true
            $0.proofWasRepeated = true
        }
        #expect(repeated == .invalidProof(.none))
        #expect(classified(reply(400, body)) == .misconfigured(.refused(.invalidDPoPProof)))
    }

    @Test func row5ProofsThatAreRefusedForADayEndInTheFlag() {
        func outcome(_ count: Int, _ hours: Int, doubt: Bool = false, fields: [(String, String)] = []) -> TokenOutcome {
            let context = ClassificationContext(
                expectedTokenType: .dpop, inDoubtIntentExisted: doubt,
                rejections: RejectionHistory(count: count, span: .seconds(hours * 3_600), othersSucceeded: true),
                proofWasSent: true,
                startedAt: Sample.start, repliedAt: Sample.start)
            return classify(.reply(reply(400, Sample.error("invalid_dpop_proof"), fields)), context, .rfc)
        }
        #expect(outcome(9, 24) == .dead(.keyMismatch))
        #expect(outcome(9, 23) == .invalidProof(.none))
        #expect(outcome(8, 24) == .invalidProof(.none))
        // It says nothing about a lost reply, and a nonce that may mend it comes first.
        #expect(outcome(9, 24, doubt: true) == .dead(.keyMismatch))
        guard case .invalidProof(.nonce) = outcome(9, 24, fields: [("DPoP-Nonce", "n1")]) else {
            Issue.record("a nonce was not taken")
            return
        }
    }

    @Test func row7InvalidGrantAfterDoubtIsALostResponse() {
        let reply = reply(400, Sample.error("invalid_grant"))
        #expect(classified(reply) { $0.inDoubtIntentExisted = true } == .dead(.lostResponse))
        #expect(classified(reply) { $0.isRepeat = true } == .dead(.lostResponse))
    }

    @Test(arguments: [400, 401, 403])
    func row8InvalidGrantIsDead(_ status: Int) {
        #expect(classified(reply(status, Sample.error("invalid_grant"))) == .dead(.invalidGrant))
        let form = reply(
            status, "error=invalid_grant&error_description=gone",
            [("Content-Type", "application/x-www-form-urlencoded")])
        #expect(classified(form) == .dead(.invalidGrant))
    }

    @Test(arguments: ["invalid_client", "unsupported_grant_type"])
    func row9TheClientIsRefusedForEveryLogin(_ code: String) throws {
        let error = try #require(OAuthErrorCode(code))
        #expect(classified(reply(401, Sample.error(code))) == .misconfigured(.client(error)))
    }

    /// What one login asked for says nothing about others, whatever it is that was wrong with it.
    @Test(arguments: ["unauthorized_client", "invalid_target"])
    func row9aOneLoginIsRefusedAndNoneIsFlagged(_ code: String) throws {
        let error = try #require(OAuthErrorCode(code))
        #expect(classified(reply(401, Sample.error(code))) == .misconfigured(.refused(error)))
    }

    @Test func row10InvalidScopeIsAskedAgainWithoutScope() {
        let reply = reply(400, Sample.error("invalid_scope"))
        #expect(classified(reply) { $0.scopeWasSent = true } == .scopeRefused)
        #expect(classified(reply) == .misconfigured(.refused(.invalidScope)))
    }

    @Test func row11InvalidRequestIsDeadOnlyIfTheProfileSaysSo() {
        let reply = reply(400, Sample.error("invalid_request"))
        #expect(classified(reply) == .misconfigured(.refused(.invalidRequest)))
        let profile = ReplyRules(meanings: ["invalid_request": .deadByProfile])
        #expect(classified(reply, rules: profile) == .dead(.profileCode))
    }

    @Test(arguments: [
        "interaction_required", "login_required", "consent_required", "account_selection_required",
        "insufficient_user_authentication",
    ])
    func row12TheUserIsNeededAndTheTokenIsNotDead(_ code: String) throws {
        let error = try #require(OAuthErrorCode(code))
        #expect(classified(reply(400, Sample.error(code))) == .needsUser(error))
    }

    @Test func row12AnEntraSuberrorTurnsInvalidGrantIntoNeedsUser() {
        let policy = #"{"error":"invalid_grant","suberror":"basic_action"}"#
        #expect(classified(reply(400, policy)) == .needsUser(.invalidGrant))
        let dead = #"{"error":"invalid_grant","suberror":"bad_token"}"#
        #expect(classified(reply(400, dead)) == .dead(.invalidGrant))
    }

    @Test(arguments: ["temporarily_unavailable", "server_error", "slow_down"])
    func row13TemporaryCodesAreTransient(_ code: String) throws {
        let error = try #require(OAuthErrorCode(code))
        #expect(
            classified(reply(400, Sample.error(code)))
                == .transient(TransientFailure(.temporary(error))))
    }

    @Test func row14VendorCodesAreMappedByTheProfile() throws {
        let github = ReplyRules(meanings: [
            "bad_refresh_token": .deadByProfile, "incorrect_client_credentials": .clientRefused,
        ])
        let dead = reply(
            200, "error=bad_refresh_token&error_description=The+refresh+token+passed+is+incorrect",
            [("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")])
        #expect(classified(dead, rules: github) == .dead(.profileCode))
        let code = try #require(OAuthErrorCode("incorrect_client_credentials"))
        #expect(
            classified(reply(200, Sample.error("incorrect_client_credentials")), rules: github)
                == .misconfigured(.client(code)))
        let slack = ReplyRules(
            tokenPath: ["authed_user"], successMember: "ok", meanings: ["invalid_refresh_token": .deadByProfile])
        #expect(
            classified(reply(200, #"{"ok":false,"error":"invalid_refresh_token"}"#), rules: slack)
                == .dead(.profileCode))
        guard case .success = classified(reply(200, #"{"ok":true,"authed_user":\#(Sample.good())}"#), rules: slack)
        else {
            Issue.record("a nested token was not found")
            return
        }
    }

    @Test(arguments: [300, 301, 302, 303, 307, 308])
    func row15ARedirectIsAProtocolFault(_ status: Int) {
        let outcome = classified(reply(status, Sample.good(), [("Location", "https://elsewhere.example/")]))
        #expect(outcome == .transient(TransientFailure(.redirect(status: status), keepsDoubt: true)))
    }

    @Test(arguments: [400, 401, 403, 404, 405, 407, 408, 409, 410, 415, 418, 425, 451])
    func row16ARefusalWithoutAnOAuthErrorIsTransient(_ status: Int) {
        let expected = TokenOutcome.transient(TransientFailure(.unclassifiedRejection(status: status)))
        #expect(classified(reply(status, "<html>blocked: invalid_grant</html>")) == expected)
        #expect(classified(reply(status)) == expected)
        #expect(classified(reply(status, Sample.error("error_that_nobody_knows"))) == expected)
    }

    @Test(arguments: [
        #"{"error":"INVALID_GRANT"}"#, #"{"error":"invalid_grant "}"#, #"{"error":["invalid_grant"]}"#,
        #"{"error":{"code":"invalid_grant"}}"#, #"{"error":{"error":"invalid_grant"}}"#, #""invalid_grant""#,
        #""{\"error\":\"invalid_grant\"}""#, #"["invalid_grant"]"#, #"{"Error":"invalid_grant"}"#,
        #"{"error":"invalid_grant","error":"other"}"#, #"{"error":"invalid_grant"} x"#,
        #"{"error":"invalid_grant"}{"error":"invalid_grant"}"#, #"{"error":"invalid_grant""#, "invalid_grant",
        "{\"error\":\"invalid\u{005F}gr\u{0430}nt\"}", "error%3Dinvalid_grant", "error=invalid_grant%zz",
    ])
    func row16AlmostInvalidGrantIsNotInvalidGrant(_ body: String) {
        #expect(
            classified(reply(400, body)) == .transient(TransientFailure(.unclassifiedRejection(status: 400))))
    }

    @Test func row16ARefusalThatBringsTokensKeepsTheDoubt() {
        #expect(
            classified(reply(418, Sample.good()))
                == .transient(TransientFailure(.unclassifiedRejection(status: 418), keepsDoubt: true)))
    }

    @Test func additionAnEmptyRefusalIsDeadIfTheProfileSaysSo() {
        let profile = ReplyRules(bareDeadStatuses: [400])
        #expect(classified(reply(400), rules: profile) == .dead(.bareStatus))
        #expect(classified(reply(400, " \r\n"), rules: profile) == .dead(.bareStatus))
        #expect(classified(reply(400)) == .transient(TransientFailure(.unclassifiedRejection(status: 400))))
        #expect(
            classified(reply(400, "<html>"), rules: profile)
                == .transient(TransientFailure(.unclassifiedRejection(status: 400))))
        #expect(
            classified(reply(403), rules: profile)
                == .transient(TransientFailure(.unclassifiedRejection(status: 403))))
    }

    @Test func additionRepeatedUnclassifiedRejectionIsDeath() {
        func outcome(_ count: Int, _ hours: Int, others: Bool = true) -> TokenOutcome {
            classified(reply(403, "<html>")) {
                $0.rejections = RejectionHistory(
                    count: count, span: .seconds(hours * 3_600), othersSucceeded: others)
            }
        }
        let later = TokenOutcome.transient(TransientFailure(.unclassifiedRejection(status: 403)))
        #expect(outcome(9, 24) == .dead(.unclassifiedRejection))
        #expect(outcome(8, 24) == later)
        #expect(outcome(9, 23) == later)
        #expect(outcome(1_000, 1) == later)
        #expect(outcome(.max, .max / 3_600) == .dead(.unclassifiedRejection))
        // A provider that refuses everybody ends nobody's login.
        #expect(outcome(.max, .max / 3_600, others: false) == later)
    }

    @Test(arguments: [
        "", " ", "<html>portal</html>", "{", "[]", "null", "\"text\"", "{\"access_token\":\"a\"", "access_token",
        "{\"access_token\":\"a\"}{}", "{\"access_token\":\"a\"} x",
    ])
    func row17AnUnreadable2xxIsInDoubt(_ body: String) {
        for status in [200, 201, 204, 299] {
            #expect(classified(reply(status, body)) == .inDoubt(.unreadableBody))
        }
    }

    @Test func row18A2xxWithAnErrorIsAnError() {
        #expect(classified(reply(200, Sample.error("invalid_grant"))) == .dead(.invalidGrant))
        #expect(classified(reply(200, Sample.error("invalid_client"))) == .misconfigured(.client(.invalidClient)))
        let unknown = TokenOutcome.transient(TransientFailure(.unclassifiedError, keepsDoubt: true))
        #expect(classified(reply(200, Sample.error("nobody_knows"))) == unknown)
        #expect(classified(reply(200, Sample.error("use_dpop_nonce"))) == unknown)
        #expect(classified(reply(200, #"{"error":{"code":1}}"#)) == unknown)
        #expect(classified(reply(200, #"{"ok":false}"#), rules: ReplyRules(successMember: "ok")) == unknown)
    }

    @Test func row18AnErrorThatIsNullOrEmptyIsNone() {
        for error in ["null", "\"\""] {
            guard case .success = classified(reply(200, Sample.good(["error": error]))) else {
                Issue.record("an empty error hid a success")
                return
            }
        }
    }

    @Test func row18ErrorWithTokensKeepsTokensAndLogin() throws {
        let both = classified(reply(200, Sample.good(["error": "\"invalid_grant\""])))
        let token = try RefreshToken(Sample.refresh)
        #expect(both == .partial(PartialTokens(refreshToken: token, cause: .contradictory)))
        let access = classified(reply(200, Sample.good(["error": "\"invalid_grant\"", "refresh_token": nil])))
        #expect(access == .inDoubt(.contradictory))
    }

    @Test(arguments: [
        nil, "\"\"", "null", "\"a\\nb\"", "\"a\\u0000\"", "\"\\u007f\"", "\"t\u{00F6}ken\"", "7", "[\"a\"]", "{}",
    ])
    func row19And19aWithoutAUsableAccessToken(_ token: String?) throws {
        let alone = classified(reply(200, Sample.good(["access_token": token, "refresh_token": nil])))
        #expect(alone == .inDoubt(.unusableTokens))
        let refresh = try RefreshToken(Sample.refresh)
        let partial = classified(reply(200, Sample.good(["access_token": token])))
        #expect(partial == .partial(PartialTokens(refreshToken: refresh, cause: .unusableAccessToken)))
        #expect(PartialCause.unusableAccessToken.redeemsAtOnce)
    }

    /// The same token again is no successor: nothing says that the server has done anything.
    @Test func row19aTheTokenThatWasSentIsNoSuccessor() throws {
        let sent = try RefreshToken(Sample.refresh)
        func outcome(_ members: [String: String?]) -> TokenOutcome {
            classified(reply(200, Sample.good(members))) { $0.sentRefreshToken = sent }
        }
        #expect(outcome(["access_token": nil]) == .inDoubt(.unusableTokens))
        #expect(outcome(["access_token": nil, "error": "\"invalid_grant\""]) == .dead(.invalidGrant))
        #expect(outcome(["token_type": "\"mac\""]) == .misconfigured(.wrongTokenType))
        guard case .success(let tokens) = outcome([:]) else {
            Issue.record("a good reply was thrown away")
            return
        }
        #expect(tokens.refreshToken == sent)
    }

    /// Outside of the grammar, and all the same what the server wants to see again.
    @Test(arguments: ["a\\r\\nb", "a\\u0000b", "t\u{00F6}ken", "\\u007f", " "])
    func row21AnUnusualRefreshTokenIsKeptAsItCame(_ text: String) throws {
        guard case .success(let tokens) = classified(reply(200, Sample.good(["refresh_token": "\"\(text)\""]))) else {
            Issue.record("a good reply was thrown away")
            return
        }
        #expect(tokens.refreshToken != nil)
        #expect(!tokens.hasLostSuccessor)
        let long = String(repeating: "x", count: 70_000)
        guard case .success(let longer) = classified(reply(200, Sample.good(["refresh_token": "\"\(long)\""]))) else {
            Issue.record("a good reply was thrown away")
            return
        }
        #expect(longer.refreshToken?.reveal() == long)
    }

    @Test(arguments: ["7", "true", "[\"a\"]", "{}"])
    func row21ARefreshTokenThatCannotBeSentIsNotAMissingOne(_ value: String) {
        let outcome = classified(reply(200, Sample.good(["refresh_token": value])))
        guard case .success(let tokens) = outcome else {
            Issue.record("the access token was thrown away")
            return
        }
        #expect(tokens.refreshToken == nil)
        #expect(tokens.hasLostSuccessor)
        let downgraded = classified(reply(200, Sample.good(["refresh_token": value, "token_type": "\"mac\""])))
        #expect(downgraded == .inDoubt(.unusableTokens))
        guard case .success(let missing) = classified(reply(200, Sample.good(["refresh_token": nil]))) else {
            Issue.record("a good reply was thrown away")
            return
        }
        #expect(!missing.hasLostSuccessor)
    }

    @Test(arguments: ["\"Bearer\"", "\"mac\"", nil, "7", "\"DPoPx\""])
    func row20ADowngradeIsRefusedAndTheRefreshTokenIsKept(_ type: String?) throws {
        let refresh = try RefreshToken(Sample.refresh)
        let bound = { (context: inout ClassificationContext) in context.expectedTokenType = .dpop }
        let outcome = classified(reply(200, Sample.good(["token_type": type])), bound)
        #expect(outcome == .partial(PartialTokens(refreshToken: refresh, cause: .wrongTokenType)))
        #expect(!PartialCause.wrongTokenType.redeemsAtOnce)
        let alone = classified(reply(200, Sample.good(["token_type": type, "refresh_token": nil])), bound)
        #expect(alone == .misconfigured(.wrongTokenType))
    }

    @Test func row20TheReverseIsRefusedToo() throws {
        let refresh = try RefreshToken(Sample.refresh)
        for type in ["\"DPoP\"", "\"mac\""] {
            #expect(
                classified(reply(200, Sample.good(["token_type": type])))
                    == .partial(PartialTokens(refreshToken: refresh, cause: .wrongTokenType)))
        }
    }

    @Test func row20ADowngradeIsTakenWhereTheProfileAllowsIt() {
        let outcome = classified(
            reply(200, Sample.good()), { $0.expectedTokenType = .dpop }, rules: ReplyRules(acceptsDowngrade: true))
        guard case .success(let tokens) = outcome else {
            Issue.record("the profile was not obeyed")
            return
        }
        #expect(tokens.tokenType == .bearer)
    }

    @Test(arguments: [("Bearer", TokenType.bearer), ("bearer", .bearer), ("DPoP", .dpop), ("dPoP", .dpop)])
    func row21AGoodReplyIsSuccess(_ spelling: String, _ type: TokenType) throws {
        let expected = IssuedTokens(
            accessToken: try AccessToken(Sample.access), tokenType: type, expiresIn: .seconds(3_600),
            refreshToken: try RefreshToken(Sample.refresh))
        for status in [200, 201, 202] {
            let outcome = classified(reply(status, Sample.good(["token_type": "\"\(spelling)\""]))) {
                $0.expectedTokenType = type
            }
            #expect(outcome == .success(expected))
        }
    }

    @Test(arguments: [100, 101, 199, 600, 999])
    func aStatusThatNoFinalReplyHasIsInDoubt(_ status: Int) {
        #expect(classified(reply(status, Sample.error("invalid_grant"))) == .inDoubt(.unexpectedStatus))
    }
}
