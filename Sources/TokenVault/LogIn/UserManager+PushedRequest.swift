import OAuthClient
import VaultStorage

extension UserManager {
    /// Sends the request directly to the provider where its profile or its metadata says so (RFC 9126).
    func push(
        _ url: AuthorizationURL, _ key: DPoPKey?, _ provider: StoredProvider, _ profile: ProviderProfile,
        _ values: [String: String]
    ) async throws -> (request: PushedAuthorization?, expiresAt: Timestamp?, nonces: [String: String]) {
        let record = provider.record
        let usage = record.requiresPushedRequests ? .required : profile.request.pushedAuthorization
        guard usage != .never else { return (nil, nil, [:]) }
        guard let text = record.pushedAuthorizationEndpoint else {
            guard usage == .required else { return (nil, nil, [:]) }
            throw VaultError(
                .providerMisconfigured, "the provider wants pushed requests, and this vault knows no endpoint for them",
                hint: "ask the provider again: vaultctl provider update NAME --rediscover; or name the endpoint: "
                    + "--pushed-authorization-endpoint URL")
        }
        let endpoint = try VaultError.translatingValues {
            PushedAuthorizationEndpoint(
                endpoint: try EndpointURL(stored: text, for: values), binding: try ServerBinding(record, for: values),
                transport: context.transport, now: vault.wallClock)
        }
        let begunAt = vault.now
        let attempt = await endpoint.push(url, dpop: key.map { DPoPContext(key: $0) })
        switch attempt.outcome {
        case .accepted(let request):
            // The code for this request must be redeemed with the accepted secret.
            if attempt.refusedSecrets > 0 { _ = await context.promote(attempt.refusedSecrets, of: provider) }
            return (
                request, request.expiresIn.map { begunAt.advanced(by: $0) }, attempt.nonces.mapValues(\.rawValue)
            )
        case .refused(let code, let answer):
            throw VaultError(pushRefused: code, answer)
        case .failed(let error?, _, _) where error.phase == .notSent: throw VaultError(unsent: error.code)
        case .failed(let error, let answer, let retryAfter):
            throw VaultError(
                error == nil ? .tryLater : .network, "the provider did not accept the pushed request",
                hint: "begin the log-in again", retryAfter: retryAfter, answer: answer)
        }
    }
}

extension VaultError {
    /// Only an error about the client blocks every log-in; the others concern this one.
    fileprivate init(pushRefused code: OAuthErrorCode, _ answer: ProviderAnswer) {
        switch code {
        case .invalidClient, .unauthorizedClient, .useDPoPNonce, .invalidDPoPProof:
            self.init(
                .providerMisconfigured, "the provider refused this client's pushed request",
                hint: "check the client id, its secret and the redirect URI", answer: answer)
        default:
            self.init(
                .logInRefused, "the provider refused this log-in's request",
                hint: "check the scope, the redirect URI and the parameters of this log-in", answer: answer)
        }
    }
}
