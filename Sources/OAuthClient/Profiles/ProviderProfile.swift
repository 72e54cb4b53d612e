/// What is particular about one provider, as data: how its requests are built, how its replies are read, what its
/// refusals mean, and how long its refresh tokens live.
///
/// A profile is a JSON file. Whatever it leaves out is as the RFCs say.
///
/// ```swift
/// let profile = try ProviderProfile.named("google")
/// let own = try ProviderProfile(parsing: bytes, file: "acme.json")
/// ```
public struct ProviderProfile: Hashable, Sendable {
    /// Lower-case letters, digits and hyphens; the file's name without its extension.
    public let name: String
    /// For people.
    public let title: String
    /// Where the facts come from, and when they were read there.
    public let sources: [Source]
    /// Fields, with their sections, that no source could be found for: what is generally known, or taken to be so.
    public let notVerified: [String]
    /// What the file says of the endpoints; discovery and the operator take precedence.
    public let endpoints: Endpoints

    package let client: ClientRules
    package let request: RequestRules
    package let reply: ReplyRules
    package let refresh: RefreshPolicy
    package let dpop: DPoPRules
    package let revocation: RevocationRules
    package let limits: Limits
    /// Nil: the provider takes no tokens of the app's own server.
    package let exchange: ExchangeRules?
    /// How an API of the provider refuses a token.
    package let resource: ResourceRules
    /// Issuers of id tokens that are as good as the provider's own. `{name}` stands for a claim of the token.
    package let idTokenIssuers: [String]

    /// One place that was read.
    public struct Source: Hashable, Sendable {
        public let url: String
        /// `YYYY-MM-DD`.
        public let read: String
        /// What was taken from there.
        public let says: String?
    }

    /// Endpoints that are the same for all of a provider's customers.
    public struct Endpoints: Hashable, Sendable {
        public let issuer: Issuer?
        public let authorization: EndpointURL?
        public let token: EndpointURL?
        /// Where refresh tokens go, if not to ``token``.
        public let refresh: EndpointURL?
        /// May hold `{client_id}`.
        public let revocation: String?
        public let pushedAuthorization: EndpointURL?
        /// Where the life of an access token is asked for (RFC 7662).
        public let introspection: EndpointURL?

        /// ``revocation`` with this client's id in it.
        package func revocation(of client: ClientID) throws(OAuthValueError) -> EndpointURL? {
            guard let revocation else { return nil }
            return try EndpointURL(revocation.replacing("{client_id}", with: client.rawValue))
        }
    }
}
