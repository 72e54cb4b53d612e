import FoundationEssentials
import HTTPTypes
import OAuthClient
import TestSupport
import Testing

struct TokenEndpointTests {
    private func endpoint(
        _ transport: ScriptedTransport, _ authentication: ClientAuthentication = .none, rules: ReplyRules = .rfc
    ) throws -> TokenEndpoint {
        TokenEndpoint(
            binding: try Sample.binding(authentication, rules: rules), transport: transport, now: { Sample.start })
    }

    private func dpop(_ nonce: String? = nil) -> DPoPContext {
        var nonces: [String: DPoPNonce] = [:]
        if let nonce { nonces["https://server.example.com"] = DPoPNonce(nonce) }
        return DPoPContext(key: .generate(), nonces: nonces)
    }

    private let bound = ClassificationContext(expectedTokenType: .dpop)

    private func proof(_ sent: ScriptedTransport.Sent) throws -> ReadProof {
        try ReadProof(try #require(sent.request.headerFields[.dpop]))
    }

    /// A server that answers late with a challenge: the repeat has what is left, and is not begun with little.
    @Test(arguments: [(Duration.seconds(45), 2), (.seconds(10), 2), (.milliseconds(9_999), 1), (.zero, 1)])
    func aRepeatForTheProofHasWhatIsLeft(_ left: Duration, _ requests: Int) async throws {
        let transport = ScriptedTransport(
            reply(400, Sample.error("use_dpop_nonce"), [("DPoP-Nonce", "first")]),
            reply(200, Sample.good(["token_type": "\"DPoP\""])))
        let endpoint = TokenEndpoint(
            binding: try Sample.binding(.none), transport: transport, now: { Sample.start }, timeLeft: { left })
        let attempt = await endpoint.refresh(try Sample.exchange(dpop: dpop("old")), context: bound)
        #expect(attempt.requestsSent == requests)
        #expect(transport.sent.allSatisfy { $0.limits.timeout <= max(left, .milliseconds(1)) })
        #expect(transport.sent.allSatisfy { $0.limits.timeout <= .seconds(30) })
        #expect(attempt.nonces.values.map(\.rawValue) == ["first"])
    }

    @Test func aRefreshIsOnePostOfAForm() async throws {
        let transport = ScriptedTransport(reply(200, Sample.good()))
        let attempt = try await endpoint(transport).refresh(try Sample.exchange(), context: ClassificationContext())
        guard case .success = attempt.outcome else {
            Issue.record("\(attempt.outcome)")
            return
        }
        #expect(attempt.requestsSent == 1)
        #expect(attempt.startedAt == Sample.start)
        let sent = try #require(transport.sent.first)
        #expect(sent.request.method == .post)
        #expect(sent.request.scheme == "https")
        #expect(sent.request.authority == "server.example.com")
        #expect(sent.request.path == "/token")
        #expect(sent.request.headerFields[.contentType] == "application/x-www-form-urlencoded")
        #expect(
            sent.form
                == ["grant_type": "refresh_token", "refresh_token": "sent-CANARY-0", "client_id": "client"])
    }

    @Test func aCodeExchangeCarriesVerifierAndRedirectURI() async throws {
        let transport = ScriptedTransport(reply(200, Sample.good()))
        let verifier = CodeVerifier.random()
        let exchange = CodeRequest(
            code: try AuthorizationCode("code-CANARY"), codeVerifier: verifier, redirectURI: "http://127.0.0.1:1/cb",
            extraParameters: [FormParameter("audience", "x"), FormParameter("code", "other")])
        _ = try await endpoint(transport).exchangeCode(exchange, context: ClassificationContext())
        #expect(
            transport.sent.first?.form == [
                "grant_type": "authorization_code", "code": "code-CANARY", "code_verifier": verifier.reveal(),
                "redirect_uri": "http://127.0.0.1:1/cb", "client_id": "client", "audience": "x",
            ])
    }

    @Test func basicCredentialsAreFormEncodedInTheHeaderOnly() async throws {
        let transport = ScriptedTransport(reply(200, Sample.good()))
        var binding = try Sample.binding(.clientSecretBasic(try ClientSecret("s:e c+r%t")))
        binding.clientID = try ClientID("a:b c")
        let endpoint = TokenEndpoint(binding: binding, transport: transport, now: { Sample.start })
        _ = await endpoint.refresh(try Sample.exchange(), context: ClassificationContext())
        let sent = try #require(transport.sent.first)
        let header = try #require(sent.request.headerFields[.authorization])
        let decoded = try #require(Data(base64Encoded: String(header.dropFirst(6))))
        #expect(String(decoding: decoded, as: UTF8.self) == "a%3Ab+c:s%3Ae+c%2Br%25t")
        #expect(sent.form["client_id"] == nil)
        #expect(sent.form["client_secret"] == nil)
    }

    @Test func postedCredentialsStandInTheBodyAlone() async throws {
        let transport = ScriptedTransport(reply(200, Sample.good()))
        var exchange = try Sample.exchange()
        exchange.extraParameters = [FormParameter("client_secret", "other"), FormParameter("grant_type", "other")]
        _ = try await endpoint(transport, .clientSecretPost(try ClientSecret("s&c"))).refresh(
            exchange, context: ClassificationContext())
        let sent = try #require(transport.sent.first)
        #expect(sent.request.headerFields[.authorization] == nil)
        #expect(sent.form["client_id"] == "client")
        #expect(sent.form["client_secret"] == "s&c")
        #expect(sent.form["grant_type"] == "refresh_token")
    }

    @Test func aKnownNonceGoesWithTheFirstRequest() async throws {
        let transport = ScriptedTransport(reply(200, Sample.good(["token_type": "\"DPoP\""]), [("DPoP-Nonce", "next")]))
        let attempt = try await endpoint(transport).refresh(try Sample.exchange(dpop: dpop("known")), context: bound)
        #expect(attempt.requestsSent == 1)
        #expect(attempt.nonces == ["https://server.example.com": try #require(DPoPNonce("next"))])
        let proof = try proof(try #require(transport.sent.first))
        #expect(proof.claim("nonce") == "known")
        #expect(proof.claim("htu") == "https://server.example.com/token")
        #expect(proof.claim("htm") == "POST")
        #expect(proof.claim("ath") == nil)
    }

    @Test(arguments: [400, 401])
    func aNonceChallengeIsAnsweredOnceWithAFreshProof(_ status: Int) async throws {
        let transport = ScriptedTransport(
            reply(status, Sample.error("use_dpop_nonce"), [("DPoP-Nonce", "first")]),
            reply(200, Sample.good(["token_type": "\"DPoP\""]), [("DPoP-Nonce", "second")]))
        let attempt = try await endpoint(transport).refresh(try Sample.exchange(dpop: dpop("old")), context: bound)
        guard case .success = attempt.outcome else {
            Issue.record("\(attempt.outcome)")
            return
        }
        #expect(attempt.requestsSent == 2)
        #expect(attempt.nonces.values.map(\.rawValue) == ["second"])
        let proofs = try transport.sent.map(proof)
        #expect(proofs.map { $0.claim("nonce") } == ["old", "first"])
        #expect(proofs[0].claim("jti") != proofs[1].claim("jti"))
    }

    @Test func aNonceLoopEndsAfterSixRequestsAndItsNonceIsKept() async throws {
        let transport = ScriptedTransport(
            (1...9).map { .reply(reply(400, Sample.error("use_dpop_nonce"), [("DPoP-Nonce", "n\($0)")])) })
        let attempt = try await endpoint(transport).refresh(try Sample.exchange(dpop: dpop()), context: bound)
        #expect(attempt.outcome == .transient(TransientFailure(.nonceRepeated, keepsDoubt: true)))
        #expect(attempt.requestsSent == 6)
        #expect(attempt.nonces.values.map(\.rawValue) == ["n6"])
    }

    /// The one before was used up by others: that is no failure of this request.
    @Test func aSecondChallengeIsAnsweredToo() async throws {
        let transport = ScriptedTransport(
            reply(400, Sample.error("use_dpop_nonce"), [("DPoP-Nonce", "one")]),
            reply(400, Sample.error("use_dpop_nonce"), [("DPoP-Nonce", "two")]),
            reply(200, Sample.good(["token_type": "\"DPoP\""])))
        let attempt = try await endpoint(transport).refresh(try Sample.exchange(dpop: dpop("old")), context: bound)
        guard case .success = attempt.outcome else {
            Issue.record("\(attempt.outcome)")
            return
        }
        #expect(attempt.grantsSent == 3)
        #expect(try transport.sent.map { try proof($0).claim("nonce") } == ["old", "one", "two"])
    }

    @Test func aNonceThatWasTriedIsNotTriedAgain() async throws {
        let transport = ScriptedTransport(
            reply(400, Sample.error("use_dpop_nonce"), [("DPoP-Nonce", "one")]),
            reply(400, Sample.error("use_dpop_nonce"), [("DPoP-Nonce", "old")]))
        let attempt = try await endpoint(transport).refresh(try Sample.exchange(dpop: dpop("old")), context: bound)
        #expect(attempt.outcome == .transient(TransientFailure(.nonceRepeated, keepsDoubt: true)))
        #expect(attempt.requestsSent == 2)
    }

    @Test func invalidGrantAfterANonceChallengeIsALostResponse() async throws {
        let transport = ScriptedTransport(
            reply(400, Sample.error("use_dpop_nonce"), [("DPoP-Nonce", "one")]),
            reply(400, Sample.error("invalid_grant")))
        let attempt = try await endpoint(transport).refresh(try Sample.exchange(dpop: dpop()), context: bound)
        #expect(attempt.outcome == .dead(.lostResponse))
        #expect(attempt.errorReply?.error == .invalidGrant)
    }

    @Test func aWrongClockIsLearnedAndTheProofRepeated() async throws {
        let date = [("Date", "Tue, 14 Nov 2023 22:15:20 GMT")]
        let transport = ScriptedTransport(
            reply(400, Sample.error("invalid_dpop_proof"), date),
            reply(200, Sample.good(["token_type": "\"DPoP\""]), date))
        let attempt = try await endpoint(transport).refresh(try Sample.exchange(dpop: dpop()), context: bound)
        guard case .success(let tokens) = attempt.outcome else {
            Issue.record("\(attempt.outcome)")
            return
        }
        #expect(attempt.clockOffset == .seconds(120))
        // The clock moves `iat` and nothing else.
        #expect(tokens.expiresIn == .seconds(3_600))
        #expect(attempt.startedAt == Sample.start)
        #expect(try transport.sent.map { try proof($0).claim("iat") } == ["1700000000", "1700000120"])
    }

    @Test func aRefusedScopeIsLeftOutOnce() async throws {
        let transport = ScriptedTransport(
            reply(400, Sample.error("invalid_scope")), reply(400, Sample.error("invalid_scope")))
        let scope = try Scope("read write")
        let attempt = try await endpoint(transport).refresh(
            try Sample.exchange(scope: scope), context: ClassificationContext())
        #expect(attempt.outcome == .misconfigured(.refused(.invalidScope)))
        #expect(transport.sent.map { $0.form["scope"] } == ["read write", nil])
    }

    @Test func noServerGetsMoreThanSevenRequests() async throws {
        let transport = ScriptedTransport(
            [.reply(reply(400, Sample.error("invalid_scope")))]
                + (1...9).map { .reply(reply(400, Sample.error("use_dpop_nonce"), [("DPoP-Nonce", "n\($0)")])) })
        let attempt = try await endpoint(transport).refresh(
            try Sample.exchange(scope: try Scope("read"), dpop: dpop()), context: bound)
        #expect(attempt.requestsSent == 7)
        #expect(attempt.outcome == .transient(TransientFailure(.nonceRepeated, keepsDoubt: true)))
    }

    @Test func nothingElseIsRepeated() async throws {
        for body in [Sample.error("invalid_grant"), Sample.error("temporarily_unavailable"), "<html>", ""] {
            for status in [200, 302, 400, 401, 429, 500, 503] {
                let transport = ScriptedTransport(reply(status, body), reply(200, Sample.good()))
                let attempt = try await endpoint(transport).refresh(
                    try Sample.exchange(dpop: dpop()), context: bound)
                #expect(attempt.requestsSent == 1)
                #expect(transport.sent.count == 1)
            }
        }
    }

    @Test func aCancelledTaskSendsNothing() async throws {
        let transport = ScriptedTransport(reply(200, Sample.good()))
        let endpoint = try endpoint(transport)
        let exchange = try Sample.exchange()
        let released = Flag()
        let task = Task {
            await released.wait()
            return await endpoint.refresh(exchange, context: ClassificationContext())
        }
        task.cancel()
        released.set()
        let attempt = await task.value
        #expect(attempt.outcome == .transient(TransientFailure(.notSent(.cancelled))))
        #expect(attempt.requestsSent == 0)
        #expect(transport.sent.isEmpty)
    }

    @Test func cancellationAfterTheFirstByteIsIgnored() async throws {
        let reached = Flag()
        let released = Flag()
        let sawCancellation = Flag()
        let transport = ScriptedTransport([
            .after(
                {
                    reached.set()
                    await released.wait()
                    if Task.isCancelled { sawCancellation.set() }
                }, reply(200, Sample.good()))
        ])
        let endpoint = try endpoint(transport)
        let exchange = try Sample.exchange()
        let task = Task { await endpoint.refresh(exchange, context: ClassificationContext()) }
        await reached.wait()
        task.cancel()
        released.set()
        let attempt = await task.value
        guard case .success = attempt.outcome else {
            Issue.record("\(attempt.outcome)")
            return
        }
        #expect(!sawCancellation.isSet)
    }

    @Test func doubtIsToldForEveryOutcome() async throws {
        let doubted = ClassificationContext(inDoubtIntentExisted: true)
        let cases: [(HTTPReply, Bool)] = [
            (reply(200, Sample.good()), false), (reply(400, Sample.error("invalid_grant")), false),
            (reply(400, Sample.error("invalid_client")), true), (reply(400, Sample.error("login_required")), true),
            (reply(403), true), (reply(500), true), (reply(200), true),
        ]
        for (reply, leavesDoubt) in cases {
            let attempt = try await endpoint(ScriptedTransport(reply)).refresh(
                try Sample.exchange(), context: doubted)
            #expect(attempt.leavesDoubt == leavesDoubt, "\(reply)")
        }
    }
}
