import OAuthClient
import VaultStorage

extension UserManager {
    /// Hands the request to the provider itself where its profile says so (RFC 9126).
    func push(
        _ url: AuthorizationURL, _ key: DPoPKey?, _ provider: StoredProvider, _ profile: ProviderProfile
    ) async throws -> (request: PushedAuthorization?, nonces: [String: String]) {
        let record = provider.record
        let usage = profile.request.pushedAuthorization
        guard usage != .never else { return (nil, [:]) }
        guard let text = record.pushedAuthorizationEndpoint else {
            guard usage == .required else { return (nil, [:]) }
            throw VaultError(
                .providerMisconfigured, "the provider wants pushed requests, and this vault knows no endpoint for them",
                hint: "add the provider again, by its issuer or with the endpoint")
        }
        let endpoint = try VaultError.translatingValues {
            PushedAuthorizationEndpoint(
                endpoint: try EndpointURL(stored: text), binding: try ServerBinding(record),
                transport: engine.transport, now: vault.wallClock)
        }
        let attempt = await endpoint.push(url, dpop: key.map { DPoPContext(key: $0) })
        switch attempt.outcome {
        case .accepted(let request):
            // The code that comes of this is to go with the secret that was taken.
            if attempt.refusedSecrets > 0 { _ = await engine.promote(attempt.refusedSecrets, of: provider) }
            return (request, attempt.nonces.mapValues(\.rawValue))
        case .refused(let code):
            throw VaultError(
                .providerMisconfigured, "the provider refused the pushed request: \(code)",
                hint: "check the client id, its secret, the scope and the redirect URI")
        case .failed(let error, let retryAfter):
            throw VaultError(
                error == nil ? .tryLater : .network, "the provider did not take the pushed request",
                hint: "begin the log-in again", retryAfter: retryAfter)
        }
    }
}
