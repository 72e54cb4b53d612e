import OAuthClient
import VaultCrypto
import VaultStorage

/// Restores the request from a pending log-in.
extension GrantRequest {
    init(_ request: AuthorizationRequestRecord, _ provider: StoredProvider, _ code: AuthorizationCode) throws {
        self = try VaultError.translatingValues {
            var grant = GrantRequest(
                userId: request.userId, provider: provider, code: code,
                verifier: try CodeVerifier(request.codeVerifier.string() ?? ""), redirectURI: request.redirectURI,
                scope: request.scope, key: request.dpopPrivateKey.flatMap { DPoPContext(privateKey: $0)?.key },
                nonces: request.nonces, label: request.label)
            grant.nonce = try request.idTokenNonce.map { try IDTokenNonce($0.string() ?? "") }
            grant.resources = request.resources
            grant.resource = request.resource
            grant.isStepUp = request.stepUp != nil
            grant.target = request.target
            grant.attributes = request.variables
            grant.maximumAge = request.maximumAge.map { .seconds($0) }
            return grant
        }
    }
}
