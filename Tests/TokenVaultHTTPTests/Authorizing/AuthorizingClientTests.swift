import DevAuthorizationServer
import HTTPTypes
import OAuthClient
import Synchronization
import Testing
import TokenVault
import TokenVaultHTTP

/// Requests for a resource that is really protected.
struct AuthorizingClientTests {
    private func configuration(_ nonces: AuthorizationServerConfiguration.NoncePolicy)
        -> AuthorizationServerConfiguration
    {
        var configuration = AuthorizationServerConfiguration()
        configuration.noncePolicy = nonces
        return configuration
    }

    /// One switch, that of the transport, decides about plain http. An option of the manager overrules it.
    @Test func theTransportAllowsPlainHTTPForAll() async throws {
        try await ResourceWorld.with { world in
            try await world.logIn()
            let (vault, request) = (world.users.vault, world.request())
            for (allows, option) in [(false, nil), (true, nil), (true, false)] as [(Bool, Bool?)] {
                let transport = AsyncHTTPTransport(options: .init(allowsInsecureLoopback: allows))
                let users = try await UserManager(
                    vault: vault, transport: transport, options: UserManagerOptions(allowsInsecureLoopback: option))
                let isAllowed = option ?? allows
                do {
                    _ = try await users.authorize(request, for: .user("alice"))
                    #expect(isAllowed)
                } catch let error as VaultError {
                    #expect(!isAllowed && error.code == .invalidArgument)
                    #expect(error.hint?.contains("AsyncHTTPTransport.Options.allowsInsecureLoopback") == true)
                }
                await transport.shutdown()
            }
        }
    }

    @Test func aBearerTokenOpensTheResource() async throws {
        try await ResourceWorld.with { world in
            try await world.logIn()
            let response = try await world.client.send(world.request(), userId: "alice")
            #expect(response.head.status == .ok)
            let body = String(decoding: try await response.body.collect(upTo: 10_000), as: UTF8.self)
            #expect(body.contains("alice") && body.contains("Bearer"))
            #expect(world.outcomes == ["ok"])
            #expect(world.renewals == 0)
        }
    }

    @Test func aBoundTokenOpensItWithAFreshProofEachTime() async throws {
        try await ResourceWorld.with { world in
            let login = try await world.logIn(key: .generate())
            for _ in 0..<3 {
                let response = try await world.client.send(world.request(), for: .login(login.id))
                #expect(response.head.status == .ok)
            }
            #expect(world.outcomes == ["ok", "ok", "ok"])
        }
    }

    @Test func aNonceIsFetchedOnceAndThenKept() async throws {
        try await ResourceWorld.with(configuration(.requiredOnce)) { world in
            let login = try await world.logIn(key: .generate())
            for _ in 0..<3 {
                #expect(try await world.client.send(world.request(), for: .login(login.id)).head.status == .ok)
            }
            #expect(world.outcomes == ["use_dpop_nonce", "ok", "ok", "ok"])
            // The authorization server on the same origin has nonces of its own.
            _ = try await world.users.accessToken(for: .login(login.id), .renewed)
            #expect(world.server.log.tokenRequests().map(\.outcome) == ["use_dpop_nonce", "ok"])
            #expect(try await world.client.send(world.request(), for: .login(login.id)).head.status == .ok)
            #expect(world.outcomes.count == 5)
        }
    }

    @Test func aStaleNonceIsReplaced() async throws {
        try await ResourceWorld.with(configuration(.required(rotation: .seconds(300)))) { world in
            let login = try await world.logIn(key: .generate())
            _ = try await world.client.send(world.request(), for: .login(login.id))
            world.server.forgetNonces()
            #expect(try await world.client.send(world.request(), for: .login(login.id)).head.status == .ok)
            #expect(world.outcomes == ["use_dpop_nonce", "ok", "use_dpop_nonce", "ok"])
        }
    }

    @Test(arguments: [false, true])
    func aRefusedTokenIsRenewedOnceForAnyNumberOfRequests(isBound: Bool) async throws {
        try await ResourceWorld.with { world in
            let login = try await world.logIn(key: isBound ? .generate() : nil)
            world.server.expireAccessTokens(user: "alice")
            let (client, request) = (world.client, world.request())
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await client.send(request, for: .login(login.id)).head.status.code }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == Array(repeating: 200, count: 20))
            #expect(world.renewals == 1)
        }
    }

    @Test func aTokenThatRanOutAtTheServerIsRenewed() async throws {
        try await ResourceWorld.with { world in
            let login = try await world.logIn()
            world.server.advanceClock(by: .seconds(3_601))
            #expect(try await world.client.send(world.request(), for: .login(login.id)).head.status == .ok)
            #expect(world.outcomes == ["invalid_token", "ok"])
            #expect(world.renewals == 1)
        }
    }

    @Test func aNonceAndANewTokenMayBothBeNeeded() async throws {
        try await ResourceWorld.with(configuration(.required(rotation: .seconds(300)))) { world in
            let login = try await world.logIn(key: .generate())
            _ = try await world.client.send(world.request(), for: .login(login.id))
            world.server.forgetNonces()
            world.server.expireAccessTokens(user: "alice")
            #expect(try await world.client.send(world.request(), for: .login(login.id)).head.status == .ok)
            #expect(world.outcomes.suffix(2) == ["use_dpop_nonce", "ok"] || world.outcomes.last == "ok")
        }
    }

    @Test func theEndOfAGrantIsTheAnswer() async throws {
        try await ResourceWorld.with { world in
            let login = try await world.logIn()
            world.server.revokeGrant(user: "alice")
            let response = try await world.client.send(world.request(), for: .login(login.id))
            #expect(response.head.status == .unauthorized)
            #expect(world.renewals == 1)
            await #expect { try await world.client.send(world.request(), for: .login(login.id)) } throws: { error in
                (error as? VaultError)?.code == .refreshFailed
            }
            #expect(world.outcomes == ["invalid_token"])
        }
    }

    @Test(arguments: [
        ("http", "api.example", "/"), ("ftp", "127.0.0.1", "/"), ("http", "127.0.0.1@evil.example", "/"),
        ("http", "127.0.0.1", "@evil.example/"),
    ])
    func aTokenIsNotSentInTheClear(_ scheme: String, _ authority: String, _ path: String) async throws {
        try await ResourceWorld.with { world in
            try await world.logIn()
            let request = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: path)
            await #expect { try await world.client.send(request, userId: "alice") } throws: { error in
                (error as? VaultError)?.code == .invalidArgument
            }
        }
    }
}
