import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVaultTesting
import VaultCrypto
import VaultStorage

import TokenVault

/// Every class of outcome, from the wire to the caller and to what is stored.
struct OutcomeTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let replies: [ScriptedReply]
        /// Requests of the first call.
        let requests: Int
        let code: VaultError.Code
        var failure: RefreshFailure.Reason? = nil
        var isInDoubt = false
        /// Whether a call right after the first sends anything.
        var isPostponed = true

        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(name: "not sent", replies: [.failure(.notSent, .connect)], requests: 1, code: .tryLater),
        Case(
            name: "lost twice", replies: [.failure(.maybeSent, .timeout), .failure(.maybeSent, .reset)], requests: 2,
            code: .tryLater, isInDoubt: true),
        Case(
            name: "unreadable success, twice", replies: [.status(.ok, body: "<html>"), .status(.ok, body: "")],
            requests: 2, code: .tryLater, isInDoubt: true),
        Case(name: "throttled", replies: [.status(.tooManyRequests)], requests: 1, code: .tryLater),
        Case(
            name: "server error", replies: [.status(.internalServerError)], requests: 1, code: .tryLater,
            isInDoubt: true),
        Case(name: "redirect", replies: [.status(.found)], requests: 1, code: .tryLater, isInDoubt: true),
        Case(name: "web page", replies: [.status(.forbidden, body: "<html>")], requests: 1, code: .tryLater),
        Case(
            name: "temporarily_unavailable", replies: [.error("temporarily_unavailable")], requests: 1, code: .tryLater),
        Case(
            name: "invalid_grant", replies: [.error("invalid_grant")], requests: 1, code: .refreshFailed,
            failure: .deadGrant),
        Case(
            name: "lost, then invalid_grant", replies: [.failure(.maybeSent, .timeout), .error("invalid_grant")],
            requests: 2, code: .lostResponse, failure: .lostResponse),
        Case(
            name: "invalid_client", replies: [.error("invalid_client", status: .unauthorized)], requests: 1,
            code: .providerMisconfigured),
        Case(
            name: "unauthorized_client", replies: [.error("unauthorized_client")], requests: 1,
            code: .providerMisconfigured),
        Case(name: "invalid_request", replies: [.error("invalid_request")], requests: 1, code: .providerMisconfigured),
        Case(
            name: "interaction_required", replies: [.error("interaction_required")], requests: 1,
            code: .needsUserInteraction),
        Case(
            name: "downgrade", replies: [.tokens(accessToken: "CANARY-x", refreshToken: "CANARY-y", tokenType: "mac")],
            requests: 1, code: .providerMisconfigured),
        Case(
            name: "refresh token only, twice",
            replies: [
                .json(#"{"refresh_token":"CANARY-y","token_type":"Bearer"}"#),
                .json(#"{"refresh_token":"CANARY-z","token_type":"Bearer"}"#),
            ],
            requests: 2, code: .protocolViolation, isPostponed: false),
    ]

    @Test(arguments: cases)
    func eachClassEndsAsItMust(_ expected: Case) async throws {
        let world = try await World()
        let login = try await world.addChain()
        for reply in expected.replies { world.transport.enqueue(reply) }
        world.expire()
        await world.withTimePassing {
            #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == expected.code)
        }
        #expect(world.transport.requestCount == expected.requests)
        let stored = try await world.vault.login(login.id)
        #expect(stored.failure?.reason == expected.failure)
        #expect(stored.isInDoubt == expected.isInDoubt)
        guard expected.isPostponed else { return }
        // The next call sends nothing: dead, postponed, or the provider's breaker is open.
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } != nil)
        #expect(world.transport.requestCount == expected.requests)
    }

    @Test(
        arguments: cases.filter {
            $0.failure == nil && $0.code != .needsUserInteraction && $0.code != .protocolViolation
                && $0.name != "downgrade"
        })
    func afterAWhileALivingLoginIsRenewed(_ earlier: Case) async throws {
        let world = try await World()
        let login = try await world.addChain()
        for reply in earlier.replies { world.transport.enqueue(reply) }
        world.expire()
        await world.withTimePassing { _ = try? await world.users.accessToken(for: .login(login.id)) }
        world.time.advance(by: .seconds(60))
        world.transport.enqueue(.generation("2"))
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "2")
        let stored = try await world.vault.login(login.id)
        #expect(!stored.isInDoubt)
        #expect(stored.notBefore == nil)
        #expect(world.transport.requests.allSatisfy { $0.form["refresh_token"] == Sample.marker + "refresh-1" })
    }

    @Test func aLostReplyIsFollowedByOneReplayOfTheSameToken() async throws {
        let world = try await World()
        try await world.addChain()
        world.transport.enqueue(.failure(.maybeSent, .timeout), .generation("2"))
        world.expire()
        let token = try await world.withTimePassing { try await world.users.accessToken(userId: "alice") }
        #expect(token.name == "2")
        #expect(
            world.transport.requests.map { $0.form["refresh_token"] } == Array(repeating: "CANARY-refresh-1", count: 2))
    }

    @Test func doubtIsRememberedOverARestart() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(.failure(.maybeSent, .timeout), .failure(.maybeSent, .timeout))
        world.expire()
        await world.withTimePassing { _ = try? await world.users.accessToken(for: .login(login.id)) }
        await world.vault.close()
        world.time.advance(by: .seconds(60))
        let next = try await world.anotherProcess()
        #expect(try await next.vault.login(login.id).isInDoubt)
        world.transport.enqueue(.error("invalid_grant"))
        #expect(await code { try await next.users.accessToken(for: .login(login.id)) } == .lostResponse)
        await #expect(try next.vault.login(login.id).failure?.reason == .lostResponse)
    }

    @Test func retryAfterIsObeyedUpToAnHour() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(.status(.serviceUnavailable, headers: [.retryAfter: "120"]))
        world.expire()
        do {
            _ = try await world.users.accessToken(for: .login(login.id))
            Issue.record("a failed renewal gave a token")
        } catch let error as VaultError {
            #expect(error.code == .tryLater)
            #expect(try #require(error.retryAfter) >= .seconds(120))
        }
        world.time.advance(by: .seconds(119))
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .tryLater)
        #expect(world.transport.requestCount == 1)
        world.time.advance(by: .seconds(14))
        world.transport.enqueue(.status(.serviceUnavailable, headers: [.retryAfter: "1000000000"]))
        _ = try? await world.users.accessToken(for: .login(login.id))
        let notBefore = try await #require(try world.vault.login(login.id).notBefore)
        #expect(notBefore.timeIntervalSince(world.now) <= 3_600)
    }

    @Test func refreshTokenAloneIsStoredAndRedeemedAtOnce() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(.json(#"{"refresh_token":"CANARY-refresh-2","token_type":"Bearer"}"#), .generation("3"))
        world.expire()
        let token = try await world.users.accessToken(for: .login(login.id))
        #expect(token.name == "3")
        #expect(token.generation == 3)
        #expect(world.transport.requests.map { $0.form["refresh_token"] } == ["CANARY-refresh-1", "CANARY-refresh-2"])
    }

    @Test func downgradedReplyKeepsOnlyTheRefreshToken() async throws {
        let world = try await World()
        let login = try await world.addChain(dpopKey: .generate())
        world.transport.enqueue(
            .tokens(accessToken: "CANARY-bearer", refreshToken: "CANARY-refresh-2", tokenType: "Bearer"),
            .tokens(accessToken: "CANARY-access-3", refreshToken: "CANARY-refresh-3", tokenType: "DPoP"))
        world.expire()
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .providerMisconfigured)
        #expect(try await world.vault.login(login.id).lastRefusal?.answer.words == "200: a token of the type Bearer")
        world.time.advance(by: .seconds(60))
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "3")
        #expect(world.transport.requests.last?.form["refresh_token"] == "CANARY-refresh-2")
    }

    @Test func misconfigurationFlagsNoLoginAndAsksWithOne() async throws {
        let world = try await World()
        var logins: [Login] = []
        for index in 0..<5 { logins.append(try await world.addChain(user: "user\(index)", name: "\(index)")) }
        world.transport.fallback = .error("invalid_client", status: .unauthorized)
        world.expire()
        for login in logins {
            #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .providerMisconfigured)
        }
        #expect(world.transport.requestCount == 1)
        world.time.advance(by: .seconds(31))
        for login in logins { _ = try? await world.users.accessToken(for: .login(login.id)) }
        #expect(world.transport.requestCount == 2)
        for login in logins { #expect(try await world.vault.login(login.id).failure == nil) }
        world.time.advance(by: .seconds(120))
        world.transport.fallback = .generation("new")
        for login in logins { #expect(try await world.users.accessToken(for: .login(login.id)).name == "new") }
    }

    @Test func tenUnexplainedRejectionsInADayEndALogin() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let other = try await world.addChain(user: "bob", name: "b")
        world.transport.fallback = .status(.forbidden, body: "<html>")
        world.expire()
        for _ in 0..<9 {
            #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .tryLater)
            world.time.advance(by: .seconds(600))
        }
        for _ in 0..<5 {
            #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .tryLater)
            world.time.advance(by: .seconds(600))
        }
        world.time.advance(by: .seconds(86_400))
        // Others of the provider are renewed meanwhile: it is about this login.
        world.transport.enqueue(.generation("b2"))
        _ = try await world.users.accessToken(for: .login(other.id))
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .refreshFailed)
        await #expect(try world.vault.login(login.id).failure?.reason == .unclassifiedRejection)
        #expect(world.transport.requestCount == 16)
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .refreshFailed)
        #expect(world.transport.requestCount == 16)
    }

    @Test func proofsThatAreRefusedForADayEndALoginAndKeepItsKey() async throws {
        let world = try await World()
        let login = try await world.addChain(dpopKey: .generate())
        world.expire()
        for _ in 0..<9 {
            world.transport.enqueue(.error("invalid_dpop_proof"))
            #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .tryLater)
            world.time.advance(by: .seconds(3 * 3_600))
        }
        let other = try await world.addChain(user: "bob", name: "b")
        world.transport.enqueue(.generation("b2"), .error("invalid_dpop_proof"))
        _ = try await world.users.accessToken(for: .login(other.id), .renewed)
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .refreshFailed)
        await #expect(try world.vault.login(login.id).failure?.reason == .keyMismatch)
        // Nobody has said that the grant is over: it can still be revoked, with its proof.
        #expect(try await world.vault.store.login(login.id.handle).key != nil)
    }

    @Test func aScopeThatShrinksIsTold() async throws {
        let world = try await World()
        world.transport.enqueue(
            .tokens(accessToken: "CANARY-access-1", refreshToken: "CANARY-refresh-1", scope: "read write"),
            .tokens(accessToken: "CANARY-access-2", refreshToken: "CANARY-refresh-2", scope: "read"),
            .tokens(accessToken: "CANARY-access-3", refreshToken: "CANARY-refresh-3", scope: "write read"))
        let login = try await world.users.logIn(
            LogInRequest(userId: "alice", provider: "acme"), authorizationCode: AuthorizationCode("CANARY-code"),
            codeVerifier: .random())
        for scope in ["read", "write read"] {
            #expect(try await world.users.accessToken(for: .login(login.id), .renewed).scope?.description == scope)
        }
        let told = try await world.vault.store.auditEntries(after: 0, limit: 100).filter { $0.kind == .renewed }
        #expect(told.map { $0.detail.contains(.init("scope", "narrower")) } == [true, false])
        // The grant is what it was.
        #expect(try await world.vault.store.login(login.id.handle).session.grantedScope == "read write")
    }

    @Test func anIDTokenOfAnotherIssuerIsRefusedAtARenewal() async throws {
        let world = try await World()
        let now = world.now
        func token(_ issuer: String) -> String {
            SampleIDToken(issuer: issuer, now: now).text
        }
        func reply(_ name: String, _ issuer: String) -> ScriptedReply {
            .json(
                """
                {"access_token":"CANARY-access-\(name)","refresh_token":"CANARY-refresh-\(name)",\
                "token_type":"Bearer","expires_in":3600,"id_token":"\(token(issuer))"}
                """)
        }
        world.transport.enqueue(reply("1", "https://acme.example"), reply("2", "https://evil.example"))
        let login = try await world.users.logIn(
            LogInRequest(userId: "alice", provider: "acme"), authorizationCode: AuthorizationCode("CANARY-code"),
            codeVerifier: .random())
        world.transport.fallback = reply("3", "https://evil.example")
        #expect(await code { try await world.users.accessToken(for: .login(login.id), .renewed) } == .protocolViolation)
        // The refresh token is kept, the access token of somebody else's issuer is not.
        let stored = try await world.vault.store.login(login.id.handle)
        #expect(stored.session.accessToken == nil)
        #expect(stored.refresh?.refreshToken?.string() == "CANARY-refresh-3")
    }

    @Test func aLoserOfARaceTakesTheWinnersTokens() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let users = world.users
        let fresh = world.now.addingTimeInterval(7_200)
        // While the request is under way, the app sets a new chain; then the server refuses the old token.
        world.transport.enqueue(
            ScriptedReply { request throws(HTTPTransportError) in
                do {
                    try await users.updateAccessToken(
                        for: .login(login.id), accessToken: Sample.accessToken("winner"), expiresAt: fresh,
                        refreshToken: Sample.refreshToken("winner"))
                } catch {
                    throw HTTPTransportError(.notSent, .refused)
                }
                return try await ScriptedReply.error("invalid_grant").reply(to: request)
            })
        world.expire()
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "winner")
        await #expect(try world.vault.login(login.id).failure == nil)
    }

    /// Why a renewal was not sent is named. Where waiting does not help, the code says so; no login is flagged for it.
    @Test(
        arguments: [
            (.dns, .tryLater, "host name"), (.connect, .tryLater, "connection"), (.tls, .tryLater, "TLS"),
            (.proxy, .tryLater, "proxy"), (.noClientCertificate, .providerMisconfigured, "certificate"),
            (.refused, .providerMisconfigured, "this address"), (.unsigned, .providerMisconfigured, "signed"),
        ] as [(HTTPTransportError.Code, VaultError.Code, String)])
    func anUnsentRenewalNamesItsCause(
        cause: HTTPTransportError.Code, expected: VaultError.Code, words: String
    ) async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.expire()
        world.transport.enqueue(.failure(.notSent, cause))
        await #expect {
            _ = try await world.users.accessToken(for: .login(login.id))
        } throws: { error in
            guard let error = error as? VaultError else { return false }
            return error.code == expected && error.message.contains(words) && error.hint != nil
        }
        await #expect(try world.vault.login(login.id).failure == nil)
    }

    @Test func theEndOfALoginDestroysItsKeyAndItsRefreshToken() async throws {
        let world = try await World()
        let login = try await world.addChain(dpopKey: .generate())
        #expect(try await world.vault.login(login.id).isDPoPBound)
        world.transport.enqueue(.error("invalid_grant"))
        #expect(await code { try await world.users.accessToken(for: .login(login.id), .renewed) } == .refreshFailed)
        let stored = try await world.vault.login(login.id)
        #expect(!stored.isDPoPBound)
        #expect(!stored.isRefreshable)
        #expect(stored.state == .tokenExpired(stored.failure))
        // Its access token is bound to the key that is gone.
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .refreshFailed)
        #expect(world.transport.requestCount == 1)
    }

    @Test func aTransientFailureKeepsTheKey() async throws {
        let world = try await World()
        let login = try await world.addChain(dpopKey: .generate())
        world.transport.enqueue(.status(.badGateway))
        #expect(await code { try await world.users.accessToken(for: .login(login.id), .renewed) } == .tryLater)
        await #expect(try world.vault.login(login.id).isDPoPBound)
    }
}
