/// What a protected resource and its authorization server do to a client that trusts them.
public enum ResourceHostility: String, Sendable, CaseIterable {
    /// The resource's metadata is about another resource (RFC 9728 §3.3).
    case mismatchedResource = "mismatched-resource"
    /// The challenge names metadata at an `http` URL of another host.
    case insecureMetadata = "insecure-metadata"
    /// The metadata is a redirect to another origin: `metadataRedirect`.
    case redirectedMetadata = "redirected-metadata"
    /// The metadata has 100 KiB.
    case longMetadata = "long-metadata"
    /// The metadata names no authorization server.
    case noServers = "no-servers"
    /// The authorization server's metadata is that of another issuer (RFC 8414 §3.3).
    case mismatchedIssuer = "mismatched-issuer"
    /// The authorization server's metadata does not mention PKCE.
    case noPKCE = "no-pkce"
    /// `iss` in the callback is another issuer (RFC 9207 §2.4).
    case wrongIssuerInCallback = "wrong-issuer-in-callback"
    /// Of the scopes that are asked for, only the first is granted.
    case shrinkingScopes = "shrinking-scopes"
    /// Every good token gets `insufficient_scope`, whatever its scope.
    case endlessStepUp = "endless-step-up"
}
