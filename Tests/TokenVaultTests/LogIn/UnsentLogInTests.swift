import OAuthClient
import Testing
import TokenVault
import TokenVaultTesting

/// Requests before a log-in that reach no provider.
struct UnsentLogInTests {
    enum First: CaseIterable {
        case device
        case discovery
        case pushed
    }

    @Test(
        arguments: First.allCases,
        [
            (.dns, .network, "host name"), (.connect, .network, "connection"), (.tls, .network, "TLS"),
            (.proxy, .network, "proxy"), (.refused, .providerMisconfigured, "this address"),
        ] as [(HTTPTransportError.Code, VaultError.Code, String)])
    func aFirstRequestNamesItsCause(
        _ first: First, _ cause: (code: HTTPTransportError.Code, expected: VaultError.Code, words: String)
    ) async throws {
        var provider = Sample.provider()
        provider.deviceAuthorizationEndpoint = try EndpointURL("https://acme.example/device")
        provider.pushedAuthorizationEndpoint = try EndpointURL("https://acme.example/par")
        provider.requiresPushedRequests = true
        let world = try await World(provider: provider)
        world.transport.fallback = .failure(.notSent, cause.code)
        let request = LogInRequest(userId: "alice", provider: "acme")
        await #expect {
            switch first {
            case .device: _ = try await world.users.beginDeviceLogIn(request)
            case .discovery:
                _ = try await world.users.addProvider("other", issuer: "https://other.example", clientID: "c")
            case .pushed: _ = try await world.users.beginLogIn(request)
            }
        } throws: { error in
            guard let error = error as? VaultError else { return false }
            return error.code == cause.expected && error.message.contains(cause.words) && error.hint != nil
        }
    }
}
