/// The particulars of one provider, as data: how its requests are built, how its replies are read, what its refusals
/// mean, and how long its refresh tokens live.
///
/// A profile is a JSON file. Omitted fields follow the RFCs.
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
    /// The sources of the facts, and when they were read.
    public let sources: [Source]
    /// Fields, with their sections, that have no source: common knowledge, or assumptions.
    public let notVerified: [String]
    /// Values that each log-in brings, for endpoints and parameters.
    public let variables: [ProfileVariable]
    /// The endpoints in the file; discovery and the operator take precedence.
    public let endpoints: Endpoints

    package let client: ClientRules
    package let request: RequestRules
    package let callback: CallbackRules
    package let reply: ReplyRules
    package let refresh: RefreshPolicy
    package let dpop: DPoPRules
    package let revocation: RevocationRules
    package let limits: Limits
    /// Nil if the provider does not exchange tokens of the app's own server.
    package let exchange: ExchangeRules?
    /// How an API of the provider rejects a token.
    package let resource: ResourceRules
    /// Issuers of id tokens that are accepted like the provider's own. `{name}` is replaced by a claim of the token.
    package let idTokenIssuers: [String]

    /// One source.
    public struct Source: Hashable, Sendable {
        public let url: String
        /// `YYYY-MM-DD`.
        public let read: String
        /// The fact that the source supports.
        public let says: String?
    }

    /// Endpoints that all customers of a provider share.
    public struct Endpoints: Hashable, Sendable {
        public let issuer: Issuer?
        public let authorization: EndpointURL?
        public let token: EndpointURL?
        /// The endpoint for refresh tokens, if it differs from ``token``.
        public let refresh: EndpointURL?
        /// May contain `{client_id}`, also where a profile has no variables.
        public let revocation: String?
        public let pushedAuthorization: EndpointURL?
        /// The endpoint that reports the lifetime of an access token (RFC 7662).
        public let introspection: EndpointURL?

        /// ``revocation`` with this client's id filled in.
        package func revocation(of client: ClientID) throws(OAuthValueError) -> EndpointURL? {
            guard let revocation else { return nil }
            return try EndpointURL(
                revocation.replacing("{client_id}", with: FormCodec.encodePath(client.rawValue)), allowsVariables: true)
        }
    }
}
