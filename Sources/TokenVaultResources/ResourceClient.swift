public import OAuthClient

/// How a service becomes a client of the servers that its users' resources name, and which ones it lets them bring.
///
/// ```swift
/// var client = try ResourceClient(
///     redirectURI: "https://app.example/callback", documentURL: "https://app.example/oauth/client.json",
///     clientName: "Example")
/// client.allowedResources = [try APIOrigin("https://*.mcp.example")]
/// ```
///
/// A client is, in this order: the one that the vault already has at the server, one whose id is the URL of its metadata, and
/// one that registers itself.
public struct ResourceClient: Sendable {
    /// Where callbacks go. `{provider}` in it stands for the name that the server's provider gets in the vault: servers that do
    /// not name themselves in callbacks (RFC 9207) need a redirect URI each.
    public var redirectURI: String
    /// The URL of a document with the client's metadata, which is then the client's id at every server that fetches such
    /// documents (draft-ietf-oauth-client-id-metadata-document). ``metadataDocument(redirectURIs:scope:)`` writes it.
    public var documentURL: String?
    /// Shown to users who are asked for their consent, by servers where the client registers itself.
    public var clientName: String?
    /// Whether the client registers itself at servers that take no document (RFC 7591).
    public var registersItself = true
    /// The resources that users may bring; empty: every one.
    public var allowedResources: [APIOrigin] = []
    /// The authorization servers that resources may name; empty: every one.
    public var allowedIssuers: [APIOrigin] = []
    /// Whether the service trusts its users so far that they may bring addresses of private networks. Otherwise the manager's
    /// transport must refuse them: `AsyncHTTPTransport.Options.deniesAddress`.
    public var allowsPrivateAddresses = false

    /// - Throws: `OAuthValueError` for a redirect URI or a document's URL that is none.
    public init(redirectURI: String, documentURL: String? = nil, clientName: String? = nil) throws(OAuthValueError) {
        _ = try RedirectURI(redirectURI.replacing("{provider}", with: "provider"))
        if let documentURL { _ = try EndpointURL(documentURL, allowsInsecureLoopback: true) }
        self.redirectURI = redirectURI
        self.documentURL = documentURL
        self.clientName = clientName
    }
}
