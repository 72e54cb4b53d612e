public import OAuthClient
import TokenVault

extension ResourceClient {
    /// The document to serve at ``documentURL``, as `application/json` and without redirects
    /// (draft-ietf-oauth-client-id-metadata-document).
    ///
    /// It is that of a client without a key. One with a key is a provider that an operator has added, and `vaultctl provider
    /// client-metadata` prints its document.
    ///
    /// - Parameters:
    ///   - redirectURIs: Where callbacks may go, besides ``redirectURI``: with `{provider}` in that one, each URI that stands for
    ///     it.
    ///   - scope: What the client may ask for; nil: whatever its users' resources want.
    /// - Throws: `VaultError`, code `invalidArgument`, if there is no such URL, or no redirect URI.
    public func metadataDocument(redirectURIs: [RedirectURI] = [], scope: Scope? = nil) throws -> String {
        var all = redirectURIs
        if !redirectURI.contains("{provider}") {
            let own = try VaultError.translatingValues { try RedirectURI(redirectURI) }
            if !all.contains(own) { all.insert(own, at: 0) }
        }
        guard !all.isEmpty else {
            throw VaultError(.invalidArgument, "the document names no redirect URI, and each log-in has one")
        }
        let metadata = ClientMetadata(
            redirectURIs: all, tokenEndpointAuthMethod: "none", clientName: clientName, scope: scope)
        guard let id = documentURL.flatMap({ try? ClientID($0) }),
            let document = ClientMetadataDocument(clientID: id, metadata, allowsInsecureLoopback: true)
        else {
            throw VaultError(.invalidArgument, "the client has no URL for its document: https, with a path")
        }
        return document.text
    }
}
