package import FoundationEssentials
public import OAuthClient

/// A change of a provider. Fields that are not set stay as they are.
///
/// ```swift
/// var change = ProviderChange()
/// change.authentication = .clientSecretBasic(newSecret)
/// try await vault.updateProvider(named: "acme", change)
/// ```
public struct ProviderChange: Sendable {
    /// The change of a field that may be empty.
    public enum Field<Value: Sendable>: Sendable {
        case keep
        case set(Value)
        case remove
    }

    /// Where a provider's profile comes from.
    package enum Profile: Sendable {
        /// One that comes with the library.
        case shipped(String)
        /// A profile's file. It is sealed with the provider.
        case document([UInt8])
    }

    package var issuer = Field<Issuer>.keep
    public var authorizationEndpoint = Field<EndpointURL>.keep
    public var tokenEndpoint: EndpointURL?
    package var revocationEndpoint = Field<EndpointURL>.keep
    package var introspectionEndpoint = Field<EndpointURL>.keep
    package var pushedAuthorizationEndpoint = Field<EndpointURL>.keep
    package var deviceAuthorizationEndpoint = Field<EndpointURL>.keep
    package var jwksURI = Field<EndpointURL>.keep
    package var requiresPushedRequests: Bool?
    public var clientID: ClientID?
    /// How the client authenticates, with its first secret. Further secrets stay, where the method has any.
    public var authentication: ClientAuthentication?
    /// All further secrets, in the order in which they are tried; an empty list leaves the first one alone.
    public var alternativeSecrets: [ClientSecret]?
    /// Secrets to follow those that there are, applied after the field above.
    package var addedSecrets: [ClientSecret] = []
    /// Makes the second secret the first, and the first the last. Applied after the two fields above.
    public var promotesNextSecret = false
    package var profile: Profile?
    public var scope = Field<Scope>.keep
    public var redirectURI = Field<RedirectURI>.keep
    public var dpop: DPoPPolicy?
    package var requiresIssuerInCallback: Bool?
    /// The certificate that the client presents although it authenticates in another way. Changing ``authentication``
    /// to a certificate, or to another one, changes this, too.
    public var tokenCertificate = Field<ClientCertificate>.keep
    package var bindsTokensToCertificate: Bool?
    /// All origins to which tokens may be sent. An empty list lifts the restriction: then every `https` URL is allowed.
    public var apiOrigins: [APIOrigin]?
    /// Further ones. This field and the next are applied after the one above.
    package var addedAPIOrigins: [APIOrigin] = []
    /// Those that are no longer allowed. The last one cannot be removed in this way, because that would allow every URL.
    package var removedAPIOrigins: [APIOrigin] = []

    /// See ``ProviderRegistration/mostDeaths`` and ``ProviderRegistration/daysEndedIsKept``.
    package var mostDeaths = Field<Int>.keep
    package var daysEndedIsKept = Field<Int>.keep
    package var assertionAudience = Field<AssertionAudience>.keep
    /// When the first client secret ends. By default, a new secret ends when the profile says so, counted from now.
    package var clientSecretExpiresAt = Field<Date>.keep

    public init() {}

    /// A change to the provider's current metadata (RFC 8414). An endpoint that it no longer lists is removed.
    ///
    /// - Parameters:
    ///   - metadata: The provider's metadata.
    ///   - showsCertificate: Whether the client presents a certificate; then other endpoints may apply (RFC 8705 §5).
    public init(metadata: ServerMetadata, showsCertificate: Bool = false) {
        let metadata = showsCertificate ? metadata.forMutualTLS : metadata
        func field(_ url: EndpointURL?) -> Field<EndpointURL> { url.map { .set($0) } ?? .remove }
        issuer = .set(metadata.issuer)
        authorizationEndpoint = field(metadata.authorizationEndpoint)
        tokenEndpoint = metadata.tokenEndpoint
        revocationEndpoint = field(metadata.revocationEndpoint)
        introspectionEndpoint = field(metadata.introspectionEndpoint)
        pushedAuthorizationEndpoint = field(metadata.pushedAuthorizationRequestEndpoint)
        deviceAuthorizationEndpoint = field(metadata.deviceAuthorizationEndpoint)
        jwksURI = field(metadata.jwksURI)
        requiresPushedRequests = metadata.requirePushedAuthorizationRequests
        requiresIssuerInCallback = metadata.authorizationResponseIssParameterSupported
    }
}

/// The outcome of a change of a provider.
package struct ProviderUpdate: Sendable, Equatable {
    package let previous: Provider
    package let current: Provider
    /// The fields that differ; empty if the change has no effect.
    package let changes: [Change]
    /// Logins that may have lost their grant by this change, which was made anyway because it was forced.
    package let orphanedLogins: Int
    /// Pending revocations that may now never be confirmed.
    package let orphanedRevocations: Int

    /// A field that differs.
    package struct Change: Sendable, Equatable {
        /// Named as in JSON output, such as `tokenEndpoint`.
        package let field: String
        /// Nil: there was nothing, or it is not shown: client secrets and profile documents never are.
        package let previous: String?
        package let current: String?
    }
}

extension ProviderChange: PublicRendering {
    var shown: ShownFields {
        [
            "authorizationEndpoint": authorizationEndpoint.shown, "tokenEndpoint": tokenEndpoint,
            "clientID": clientID, "promotesNextSecret": promotesNextSecret, "scope": scope.shown,
            "redirectURI": redirectURI.shown, "dpop": dpop, "apiOrigins": apiOrigins,
        ]
    }
}

extension ProviderChange.Field {
    fileprivate var shown: Any? {
        switch self {
        case .keep: nil
        case .set(let value): value
        case .remove: "removed"
        }
    }
}
