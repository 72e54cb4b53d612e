import Foundation
import OAuthClient
import TestSupport
import Testing
import TokenVaultTesting

@testable import TokenVault

/// A provider is added by its issuer in one call.
struct IssuerTests {
    private static func metadata(_ members: [String: any Sendable] = [:], issuer: String = "https://login.example")
        throws
        -> ScriptedReply
    {
        var document: [String: Any] = [
            "issuer": issuer, "token_endpoint": issuer + "/token", "authorization_endpoint": issuer + "/authorize",
            "jwks_uri": issuer + "/jwks", "authorization_response_iss_parameter_supported": true,
            "response_types_supported": ["code"],
        ]
        for (name, value) in members { document[name] = value }
        let bytes = try JSONSerialization.data(withJSONObject: document)
        return .json(String(decoding: bytes, as: UTF8.self))
    }

    private func add(
        _ world: World, issuer: String = "https://login.example", clientID: String = "my-app",
        authentication: ClientAuthentication = .none, dpop: DPoPPolicy = .optional
    ) async throws -> Provider {
        try await world.users.addProvider(
            "login", issuer: issuer, clientID: clientID, authentication: authentication, scope: "openid offline_access",
            redirectURI: "https://app.example/callback/login", dpop: dpop)
    }

    @Test func theEndpointsAreThoseOfItsMetadata() async throws {
        let world = try await World()
        world.transport.enqueue(try Self.metadata(["dpop_signing_alg_values_supported": ["ES256"]]))
        let provider = try await add(world, dpop: .required)
        #expect(world.transport.requests.map(\.path) == ["/.well-known/oauth-authorization-server"])
        #expect(provider == (try await world.vault.provider(named: "login")))
        #expect(provider.issuer?.rawValue == "https://login.example")
        #expect(provider.tokenEndpoint.rawValue == "https://login.example/token")
        #expect(provider.jwksURI?.rawValue == "https://login.example/jwks")
        #expect(provider.scope?.description == "openid offline_access" && provider.dpop == .required)
        #expect(provider.redirectURI?.rawValue == "https://app.example/callback/login")
    }

    @Test func whatTheProviderDoesNotSupportIsRefusedAtOnce() async throws {
        let world = try await World()
        world.transport.fallback = try Self.metadata(["token_endpoint_auth_methods_supported": ["private_key_jwt"]])
        let secret = try ClientSecret("CANARY-secret")
        #expect(await code { try await add(world, authentication: .clientSecretBasic(secret)) } == .invalidArgument)
        #expect(await code { try await add(world, dpop: .required) } == .invalidArgument)
        #expect(try await world.vault.providerEntries().count == 1)
    }

    @Test func wrongValuesAreRefusedBeforeAnythingIsSent() async throws {
        let world = try await World()
        for (issuer, client) in [
            ("login.example", "my-app"), ("http://127.0.0.1:1", "my-app"), ("https://a.example", ""),
        ] {
            #expect(await code { try await add(world, issuer: issuer, clientID: client) } == .invalidArgument)
        }
        #expect(world.transport.requestCount == 0)
    }

    @Test func whatFailsSaysWhoCanMendIt() async throws {
        let world = try await World()
        world.transport.fallback = .failure(.notSent, .connect)
        #expect(await code { try await add(world) } == .network)
        world.transport.fallback = .status(.serviceUnavailable)
        #expect(await code { try await add(world) } == .tryLater)
        world.transport.fallback = try Self.metadata(issuer: "https://other.example")
        #expect(await code { try await add(world) } == .protocolViolation)
        world.transport.fallback = try Self.metadata()
        _ = try await add(world)
        #expect(await code { try await add(world) } == .conflict)
    }

    /// Said once, for a development server.
    @Test func thisMachineIsAllowedByTheManager() async throws {
        let world = try await World()
        let options = UserManagerOptions(recoveryInterval: nil, allowsInsecureLoopback: true)
        let users = try await UserManager(vault: world.vault, transport: world.transport, options: options)
        world.transport.enqueue(try Self.metadata(issuer: "http://127.0.0.1:4711"))
        let provider = try await users.addProvider(
            "local", issuer: "http://127.0.0.1:4711", clientID: "my-app", redirectURI: "http://127.0.0.1:8080/callback")
        #expect(provider.tokenEndpoint.rawValue == "http://127.0.0.1:4711/token")
    }
}
