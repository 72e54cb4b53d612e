import Crypto
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultStorage

import TokenVault

/// The id token of a log-in is for this log-in, or there is no login.
struct LogInIDTokenTests {
    private static let jwks = "https://acme.example/jwks"
    private let key = P256.Signing.PrivateKey()

    private func world(keys: Bool = false) async throws -> World {
        var registration = Sample.provider()
        registration.scope = try Scope("openid read")
        registration.jwksURI = keys ? try EndpointURL(Self.jwks) : nil
        return try await World(provider: registration)
    }

    private func nonce(_ request: AuthorizationRequest) -> String? {
        let query = request.url.split(separator: "?", maxSplits: 1).last.map { Array($0.utf8) } ?? []
        return FormCodec.decode(query)?.first { $0.name == "nonce" }?.value
    }

    private func tokens(_ idToken: String) -> ScriptedReply {
        .json(
            #"{"access_token":"CANARY-access-1","refresh_token":"CANARY-refresh-1","token_type":"Bearer","#
                + #""expires_in":3600,"id_token":"\#(idToken)"}"#)
    }

    private func complete(_ world: World, _ request: AuthorizationRequest) async throws -> CompletedLogIn {
        try await world.users.completeLogIn(.url("?code=CANARY-code&state=\(request.state)"), boundTo: request.binding)
    }

    @Test func whoLoggedInCanBeReadAndIsNotPrinted() async throws {
        let world = try await world()
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        let nonce = try #require(self.nonce(request))
        #expect(nonce.utf8.count == 32)
        world.transport.enqueue(tokens(SampleIDToken(nonce: nonce, now: world.now).text))
        let done = try await complete(world, request)
        #expect(done.claims?["email"] == "CANARY-alice@acme.example")
        #expect(done.claims?["email_verified"] == "true")
        #expect(done.claims?.subject == "CANARY-subject")
        #expect(done.claims?.isSignatureChecked == false)
        #expect(done.login.subject == "CANARY-subject")
        #expect(try await world.vault.login(done.login.id).subject == "CANARY-subject")
        var dumped = ""
        dump(done, to: &dumped)
        dump(done.claims, to: &dumped)
        dump(done.login, to: &dumped)
        #expect(!"\(done) \(String(reflecting: done)) \(done.login) \(dumped)".contains("CANARY-"))
    }

    /// Providers that give no refresh token name the user too.
    @Test func whoLoggedInCanBeReadWithoutARefreshTokenToo() async throws {
        let world = try await world()
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        let token = SampleIDToken(nonce: nonce(request), now: world.now).text
        world.transport.enqueue(
            .json(
                #"{"access_token":"CANARY-access-1","token_type":"Bearer","expires_in":3600,"id_token":"\#(token)"}"#))
        let done = try await complete(world, request)
        #expect(done.claims?["email"] == "CANARY-alice@acme.example")
        #expect(done.login.subject == "CANARY-subject")
        let again = try await world.anotherProcess()
        #expect(try await again.vault.login(done.login.id).subject == "CANARY-subject")
        // It is no login that renews itself, and counts as none.
        await #expect(try again.vault.store.login(done.login.id.handle).refresh == nil)
        await #expect(try !again.vault.login(done.login.id).isRefreshable)
        #expect(try await again.users.accessToken(for: .login(done.login.id)).name == "1")
        world.expire()
        #expect(await code { try await again.users.accessToken(for: .login(done.login.id)) } == .notRefreshable)
        #expect(world.transport.requestCount == 1)
        #expect(try await world.vault.verify().isClean)
        await again.vault.close()
    }

    @Test func everyLogInHasANonceOfItsOwn() async throws {
        let world = try await world()
        let one = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        let other = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        #expect(nonce(one) != nonce(other))
        // Alice's browser brings the code of one log-in, and its id token answers the other.
        world.transport.enqueue(tokens(SampleIDToken(nonce: nonce(other), now: world.now).text), .status(.ok))
        #expect(await code { try await complete(world, one) } == .protocolViolation)
    }

    @Test(
        arguments: [
            { $0.claims["iss"] = "\"https://evil.example\"" }, { $0.claims["iss"] = nil },
            { $0.claims["aud"] = "\"client-2\"" }, { $0.claims["aud"] = "[\"client-2\",\"client-3\"]" },
            { $0.claims["azp"] = "\"client-2\"" }, { $0.claims["aud"] = nil },
            { $0.claims["nonce"] = "\"another\"" }, { $0.claims["nonce"] = nil },
            { $0.claims["exp"] = "1" }, { $0.claims["exp"] = nil }, { $0.claims["iat"] = "99999999999" },
            { $0.claims["sub"] = nil }, { $0.claims["sub"] = "\"\"" }, { $0.header["alg"] = "\"none\"" },
            { $0.header["alg"] = nil }, { $0.header["alg"] = "\"HS256\"" }, { $0.header["crit"] = "[\"x\"]" },
        ] as [@Sendable (inout SampleIDToken) -> Void])
    func aWrongIDTokenIsNoLogIn(_ change: @Sendable (inout SampleIDToken) -> Void) async throws {
        let world = try await world()
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        var token = SampleIDToken(nonce: nonce(request), now: world.now)
        change(&token)
        world.transport.enqueue(tokens(token.text), .status(.ok))
        #expect(await code { try await complete(world, request) } == .protocolViolation)
        #expect(await code { try await world.vault.user("alice") } == .unknownUser)
        // What came is ended at the provider.
        let revocation = try #require(world.transport.requests.last)
        #expect(revocation.path == "/revoke")
        #expect(revocation.form["token"] == "CANARY-refresh-1")
    }

    /// Its code may be of a log-in that asked for no id token, of another user.
    @Test func aReplyWithoutTheIDTokenIsNoLogIn() async throws {
        let world = try await world()
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        world.transport.enqueue(.generation("1"), .status(.ok))
        #expect(await code { try await complete(world, request) } == .protocolViolation)
        #expect(await code { try await world.vault.user("alice") } == .unknownUser)
        #expect(world.transport.requests.last?.path == "/revoke")
    }

    @Test func aProfileMaySayThatThereIsNone() async throws {
        var registration = Sample.provider()
        registration.scope = try Scope("openid read")
        registration.profileDocument = Array(
            #"""
            {"profile":1,"name":"silent","source":[{"url":"https://acme.example/docs","read":"2026-11-25","says":"no id token"}],
            "client":{"idTokenMayBeMissing":true}}
            """#.utf8)
        let world = try await World(provider: registration)
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        world.transport.enqueue(.generation("1"))
        #expect(try await complete(world, request).claims == nil)
    }

    @Test func aFinancialProfileTakesNoWeakSignature() async throws {
        #expect(try ProviderProfile.named("fapi2-security").client.idTokenAlgorithms == ["PS256", "ES256", "EdDSA"])
        for (algorithms, expected) in [([String](), nil), (["PS256"], IDTokenError.Code.unsupportedAlgorithm)] {
            let token = try IDToken(SampleIDToken(nonce: "n", now: Date()).text)
            var check = IDTokenCheck(
                issuers: [], clientID: try ClientID("client-1"), nonce: try IDTokenNonce("n"), maximumAge: nil,
                now: Date())
            check.algorithms = algorithms
            do throws(IDTokenError) {
                _ = try check.claims(of: token)
                #expect(expected == nil)
            } catch {
                #expect(error.code == expected)
            }
        }
    }

    @Test func anEncryptedIDTokenIsNoLogIn() async throws {
        let world = try await world()
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        world.transport.enqueue(tokens("e30.e30.e30.e30.e30"), .status(.ok))
        #expect(await code { try await complete(world, request) } == .protocolViolation)
    }

    @Test func howLongAgoTheUserAuthenticatedIsChecked() async throws {
        for (age, expected) in [(299, nil), (500, VaultError.Code.protocolViolation)] {
            let world = try await world()
            var parameters = LogInParameters()
            parameters.maximumAge = .seconds(300)
            let request = try await world.users.beginLogIn(
                LogInRequest(userId: "alice", provider: "acme", parameters: parameters))
            var token = SampleIDToken(nonce: nonce(request), now: world.now)
            token.claims["auth_time"] = "\(Int(world.now.timeIntervalSince1970) - age)"
            world.transport.enqueue(tokens(token.text), .status(.ok))
            #expect(await code { try await complete(world, request) } == expected)
        }
        let world = try await world()
        var parameters = LogInParameters()
        parameters.maximumAge = .seconds(300)
        let request = try await world.users.beginLogIn(
            LogInRequest(userId: "alice", provider: "acme", parameters: parameters))
        world.transport.enqueue(.generation("1"), .status(.ok))
        #expect(await code { try await complete(world, request) } == .protocolViolation)
    }

    // MARK: Signatures

    @Test func aPublishedKeyIsTheOnlyOneThatSigns() async throws {
        let world = try await world(keys: true)
        for (signer, expected) in [(key, nil), (P256.Signing.PrivateKey(), VaultError.Code.protocolViolation)] {
            let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
            var token = SampleIDToken(nonce: nonce(request), now: world.now)
            token.key = signer
            // The keys are fetched once.
            if expected == nil { world.transport.enqueue(.json(SampleIDToken.keySet(key))) }
            world.transport.enqueue(tokens(token.text))
            if expected != nil { world.transport.enqueue(.status(.ok)) }
            do {
                #expect(try await complete(world, request).claims?.isSignatureChecked == true)
                #expect(expected == nil)
            } catch let error as VaultError {
                #expect(error.code == expected)
            }
        }
        #expect(world.transport.requests.map(\.path) == ["/jwks", "/token", "/token", "/revoke"])
    }

    @Test("a new signing key is fetched; key ids that do not exist cause one fetch a minute")
    func unknownKeyIDsFetchKeysOnceAMinute() async throws {
        let world = try await world(keys: true)
        let old = P256.Signing.PrivateKey()
        world.transport.enqueue(.json(SampleIDToken.keySet(old, name: "k0")))
        var request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        var token = SampleIDToken(nonce: nonce(request), now: world.now)
        (token.key, token.header["kid"]) = (old, "\"k0\"")
        world.transport.enqueue(tokens(token.text))
        _ = try await complete(world, request)
        world.time.advance(by: .seconds(120))
        request = try await world.users.beginLogIn(LogInRequest(userId: "bob", provider: "acme"))
        token = SampleIDToken(nonce: nonce(request), now: world.now)
        token.key = key
        world.transport.enqueue(tokens(token.text), .json(SampleIDToken.keySet(key)))
        #expect(try await complete(world, request).claims?.isSignatureChecked == true)
        request = try await world.users.beginLogIn(LogInRequest(userId: "carol", provider: "acme"))
        token = SampleIDToken(nonce: nonce(request), now: world.now)
        (token.key, token.header["kid"]) = (key, "\"made-up\"")
        world.transport.enqueue(tokens(token.text), .status(.ok))
        #expect(await code { try await complete(world, request) } == .protocolViolation)
        #expect(world.transport.requests.filter { $0.path == "/jwks" }.count == 2)
    }

    /// OpenID Connect Core §3.1.3.7, item 6: it came from the token endpoint itself.
    @Test func withoutKeysTheConnectionVouches() async throws {
        let world = try await world(keys: true)
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        world.transport.enqueue(
            .status(.serviceUnavailable), tokens(SampleIDToken(nonce: nonce(request), now: world.now).text))
        #expect(try await complete(world, request).claims?.isSignatureChecked == false)
    }
}
