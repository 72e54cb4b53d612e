package import OAuthClient
package import TokenVault
import VaultStorage

extension Vault {
    /// The document to serve at the URL that is this client's id at the provider
    /// (draft-ietf-oauth-client-id-metadata-document-01).
    ///
    /// - Parameters:
    ///   - name: The provider's name in the vault.
    ///   - clientName: Shown to users who are asked for their consent.
    ///   - redirectURIs: Where callbacks may go, besides the provider's own redirect URI.
    ///   - nextKey: A key that will replace the client's: servers that have both already know it then.
    /// - Throws: ``VaultError/Code/invalidArgument`` if the client's id is no such URL, or the client has a secret.
    package func clientMetadataDocument(
        ofProvider name: String, clientName: String? = nil, redirectURIs: [RedirectURI] = [],
        nextKey: ClientAssertionKey? = nil
    ) async throws -> ClientMetadataDocument {
        let record = try await VaultError.translating { try await store.provider(named: name).record }
        let authentication = try VaultError.translatingValues { try record.authentication }
        let own = try VaultError.translatingValues { try record.redirectURI.map { try RedirectURI($0) } }
        let all = (own.map { [$0] } ?? []) + redirectURIs.filter { $0 != own }
        guard !all.isEmpty else {
            throw VaultError(
                .invalidArgument, "the provider has no redirect URI, which the document names",
                hint: "vaultctl provider update NAME --redirect-uri URL")
        }
        var metadata = ClientMetadata(
            redirectURIs: all, tokenEndpointAuthMethod: authentication.methodName, clientName: clientName,
            scope: try VaultError.translatingValues { try record.defaultScope.map { try Scope($0) } })
        switch authentication {
        case .none: break
        case .privateKeyJWT(let key):
            metadata.jwks = ClientAssertionKey.jwks(of: [key] + (nextKey.map { [$0] } ?? []))
            metadata.tokenEndpointAuthSigningAlg = key.algorithm.rawValue
        case .selfSignedTLSClientAuth(let certificate): metadata.jwks = certificate.jwks
        default:
            throw VaultError(
                .invalidArgument,
                "this client authenticates by \(authentication.methodName), which a document that everyone can read cannot say",
                hint: "a client with a document has a key of its own (private_key_jwt), or does not authenticate (none)"
            )
        }
        if nextKey != nil, authentication.methodName != "private_key_jwt" {
            throw VaultError(.invalidArgument, "this client has no key that another one could follow")
        }
        metadata.dpopBoundAccessTokens = record.dpop == .required
        metadata.tlsClientCertificateBoundAccessTokens = record.bindsTokensToCertificate
        metadata.requirePushedAuthorizationRequests = record.requiresPushedRequests
        // A stored URL was allowed when it was added.
        let id = try VaultError.translatingValues { try ClientID(record.clientID) }
        guard let document = ClientMetadataDocument(clientID: id, metadata, allowsInsecureLoopback: true) else {
            throw VaultError(
                .invalidArgument, "this client's id is not the URL of a document: https, with a path",
                hint: "for a client without registration: vaultctl provider update NAME --client-id "
                    + "https://app.example/oauth/client-metadata.json")
        }
        return document
    }
}
