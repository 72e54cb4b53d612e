/// What `/resource` says of itself (RFC 9728), and what it asks of tokens.
public struct ProtectedResourceBehaviour: Sendable, Equatable {
    /// Where the metadata document is, and whether the challenge says so.
    public enum MetadataPlace: String, Sendable, CaseIterable {
        /// Only where the challenge says: at a URL that nobody could guess.
        case challenge
        /// At the well-known place of the resource, which the challenge names, too.
        case path
        /// At the same place, without a word of it in the challenge.
        case pathUnnamed = "path-unnamed"
        /// At the well-known place of the whole origin, without a word of it in the challenge.
        case root
    }

    /// Scopes of the resource. The authorization server grants them even where its own metadata does not list them.
    public var scopesSupported: [String]
    /// What requests need, by path: `/resource/write` is this path and all below it. Several scopes have spaces between
    /// them. The longest path counts.
    public var scopesOfPaths: [String: String]
    /// What a request without a token is told to ask for.
    public var challengeScope: String?
    /// Whether tokens must have been asked for with the resource's URL (RFC 8707). One for another resource is refused
    /// anyway.
    public var requiresResourceIndicator = true
    /// Whether only tokens that are bound to a DPoP key are taken.
    public var requiresDPoP = false
    public var metadataPlace: MetadataPlace
    /// Issuers whose tokens are taken; `nil`: this server.
    ///
    /// Those of other servers must be in this process: see `DevAuthorizationServer.acceptTokens(of:)`.
    public var authorizationServers: [String]?
    public var hostility: Set<ResourceHostility> = []
    /// Where `redirectedMetadata` leads.
    public var metadataRedirect = "https://metadata.example/protected-resource"

    public init(
        scopesSupported: [String] = [], scopesOfPaths: [String: String] = [:], challengeScope: String? = nil,
        metadataPlace: MetadataPlace = .path
    ) {
        self.scopesSupported = scopesSupported
        self.scopesOfPaths = scopesOfPaths
        self.challengeScope = challengeScope
        self.metadataPlace = metadataPlace
    }

    /// A resource whose clients begin with `read` and ask for the rest when a path needs it.
    public static let sample = ProtectedResourceBehaviour(
        scopesSupported: ["read", "write", "admin"],
        scopesOfPaths: ["/resource/write": "write", "/resource/admin": "admin"], challengeScope: "read")

    /// What a request to this path needs.
    func scope(ofPath path: String) -> String? {
        let above = scopesOfPaths.filter { path == $0.key || path.hasPrefix($0.key + "/") }
        return above.max { $0.key.count < $1.key.count }?.value
    }
}
