import DevAuthorizationServer
import OAuthClient
import TokenVault

/// How a server treats refresh tokens, each with a client of its own.
enum ServerBehaviour: String, CaseIterable, Sendable {
    /// R0: the refresh token stays.
    case never
    /// R1: a spent token gives the same successor again for a while.
    case grace
    /// R2: a spent token that comes again ends the grant.
    case strict
    /// R2 that asks for a nonce only after it has spent the token.
    case nonce

    var rotates: Bool { self != .never }
    var isBound: Bool { self == .nonce }
    /// Whether a replay of a spent token succeeds.
    var forgives: Bool { self == .never || self == .grace }

    var client: RegisteredClient {
        var client = RegisteredClient(id: rawValue)
        switch self {
        case .never: client.behaviour = ClientBehaviour(rotation: .never)
        case .grace: client.behaviour = ClientBehaviour(rotation: .always, graceWindow: .seconds(600))
        case .strict: client.behaviour = ClientBehaviour(rotation: .always, graceWindow: .zero, reuse: .revoke)
        case .nonce:
            client.behaviour = ClientBehaviour(
                rotation: .always, graceWindow: .zero, reuse: .revoke, nonceCheck: .last)
        }
        return client
    }

    private var profile: String {
        let refresh =
            switch self {
            case .never: #"{"rotation": "never", "reuseBlast": "none"}"#
            case .grace: #"{"rotation": "always", "graceSeconds": 600, "reuseBlast": "family"}"#
            case .strict, .nonce: #"{"rotation": "always", "reuseBlast": "family"}"#
            }
        return """
            {"profile": 1, "name": "\(rawValue)", "source": [{"url": "https://example.com", "read": "2026-01-01"}],
            "refresh": \(refresh), "dpop": {"requiresNonce": \(isBound)}}
            """
    }

    func registration(_ server: DevAuthorizationServer) throws -> ProviderRegistration {
        func endpoint(_ path: String) throws -> EndpointURL {
            try EndpointURL(server.base + path, allowsInsecureLoopback: true)
        }
        var registration = try ProviderRegistration(
            name: rawValue, authorizationEndpoint: endpoint("/authorize"), tokenEndpoint: endpoint("/token"),
            revocationEndpoint: endpoint("/revoke"), clientID: ClientID(rawValue),
            redirectURI: RedirectURI("https://app.example/callback"))
        registration.profileDocument = Array(profile.utf8)
        return registration
    }
}

extension AuthorizationServerConfiguration {
    /// A client for each behaviour, and a mark in every secret.
    static var crashes: Self {
        var configuration = Self()
        configuration.clients = ServerBehaviour.allCases.map(\.client)
        configuration.secretMarker = "CANARY-"
        configuration.noncePolicy = .required(rotation: .seconds(3600))
        return configuration
    }
}
