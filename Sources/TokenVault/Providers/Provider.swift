package import FoundationEssentials
public import OAuthClient

/// A provider as this vault knows it, without the client's secrets.
public struct Provider: Sendable, Equatable {
    public internal(set) var name: String
    public let issuer: Issuer?
    public let authorizationEndpoint: EndpointURL?
    public let tokenEndpoint: EndpointURL
    package let revocationEndpoint: EndpointURL?
    public let clientID: ClientID
    /// The client authentication method, as RFC 8414 spells it: `none`, `client_secret_basic`,
    /// `client_secret_post`, `private_key_jwt`, `tls_client_auth`, `self_signed_tls_client_auth`.
    package let clientAuthentication: String
    public let scope: Scope?
    public let redirectURI: RedirectURI?
    public let dpop: DPoPPolicy
    /// The profile that says how it is asked and understood.
    public let profile: String
    package let pushedAuthorizationEndpoint: EndpointURL?
    /// How many client secrets there are: more than one while secrets are being exchanged.
    package let clientSecretCount: Int
    package let introspectionEndpoint: EndpointURL?
    /// Where a log-in on another device begins (RFC 8628).
    package let deviceAuthorizationEndpoint: EndpointURL?
    /// Where the keys are with which the provider signs id tokens.
    package let jwksURI: EndpointURL?
    /// Whether authorization requests are taken only as pushed ones (RFC 9126 §5).
    package let requiresPushedRequests: Bool
    /// Where its tokens may be sent; empty: to every `https` URL.
    public let apiOrigins: [APIOrigin]
    /// The certificate that the client presents to the provider (RFC 8705), without the key; nil: none.
    package let certificate: CertificateView?
    /// Whether access tokens are good only on connections on which the client shows that certificate.
    package let bindsTokensToCertificate: Bool
    /// Whether the client registered itself, and the vault can manage the registration (RFC 7592).
    package let isRegistrationManaged: Bool
    /// When the client's secret ends; nil: never, or the provider did not say.
    package let clientSecretExpiresAt: Date?
    /// See ``ProviderRegistration/mostDeaths``.
    package let mostDeaths: Int?
    /// See ``ProviderRegistration/daysEndedIsKept``.
    package let daysEndedIsKept: Int?
    /// To whom the client addresses its assertions; nil: as the profile says.
    package let assertionAudience: AssertionAudience?
    /// Whether it was added because a resource named it.
    package let isOfResources: Bool

    /// The public part of a client certificate.
    package struct CertificateView: Sendable, Equatable {
        /// SHA-256, in the spelling of `x5t#S256` (RFC 8705 §3.1).
        package let thumbprint: String
        package let notValidBefore: Date
        package let notValidAfter: Date
        package let isSelfSigned: Bool
    }
}

/// When the logins of a provider are bound to a DPoP key (RFC 9449).
public enum DPoPPolicy: String, Sendable, Equatable, CaseIterable {
    case never
    /// When the log-in asks for it.
    case optional
    /// Always; a reply that is not bound is refused.
    case required
}

/// Whom an assertion of the client names as its audience (RFC 7523 §3).
package enum AssertionAudience: String, Sendable, Equatable, CaseIterable {
    case issuer
    case tokenEndpoint = "token-endpoint"
}

/// A provider to be added to a vault: an authorization server and our client's registration there.
///
/// ```swift
/// let acme = try ProviderRegistration(
///     name: "acme", authorizationEndpoint: EndpointURL("https://login.acme.example/authorize"),
///     tokenEndpoint: EndpointURL("https://login.acme.example/token"), clientID: ClientID("my-app"),
///     scope: Scope("calendar.read"), redirectURI: RedirectURI("https://app.example/callback"))
/// ```
public struct ProviderRegistration: Sendable {
    /// The name under which this vault knows it.
    public var name: String
    public var issuer: Issuer?
    public var authorizationEndpoint: EndpointURL?
    public var tokenEndpoint: EndpointURL
    public var revocationEndpoint: EndpointURL?
    public var pushedAuthorizationEndpoint: EndpointURL?
    /// Where the life of an access token is asked for (RFC 7662), if the profile says so.
    public var introspectionEndpoint: EndpointURL?
    /// Where a log-in on another device begins (RFC 8628).
    public var deviceAuthorizationEndpoint: EndpointURL?
    /// Where the keys are with which the provider signs id tokens. Without it id tokens are believed because they come from
    /// the token endpoint itself.
    public var jwksURI: EndpointURL?
    /// Whether authorization requests are taken only as pushed ones (RFC 9126 §5).
    public var requiresPushedRequests = false
    public var clientID: ClientID
    public var authentication: ClientAuthentication
    /// Further secrets while secrets are being exchanged, in the order in which they are tried. They go with requests
    /// that carry neither a refresh token nor a code; those always go with ``authentication``.
    public var alternativeSecrets: [ClientSecret] = []
    /// A shipped profile's name.
    public var profile = ProviderProfile.generic.name
    /// A profile's file, instead of a shipped profile. It is sealed with the provider.
    public var profileDocument: [UInt8]?
    /// The default scope of a log-in.
    public var scope: Scope?
    /// Where the callback goes if a log-in does not say.
    public var redirectURI: RedirectURI?
    public var dpop: DPoPPolicy
    /// Where its tokens may be sent by ``UserManager/authorize(_:for:_:baseURL:)``, `AuthorizingClient` and `vaultctl request`:
    /// name the APIs that you use. Empty: to every `https` URL.
    public var apiOrigins: [APIOrigin] = []
    /// Whether the server names itself in callbacks (RFC 9207). Then a callback that does not is refused.
    public var requiresIssuerInCallback: Bool
    /// Shown on every connection to the provider though the client proves itself in another way: for tokens that are bound
    /// to it (RFC 8705 §3). Where the client proves itself by a certificate, that one is shown.
    public var tokenCertificate: ClientCertificate?
    /// Whether the provider binds access tokens to the certificate. They then go out only on connections that show it.
    public var bindsTokensToCertificate = false
    /// How many logins the provider may end in a row, without a renewal between, before that is no longer believed; nil: 8,
    /// or as many as is usual there. Zero: any number.
    package var mostDeaths: Int?
    /// For how many days the refresh token of a login without a key is kept, sealed, after the provider has ended it, so
    /// that `vaultctl login revive` works; nil: it is destroyed at once.
    package var daysEndedIsKept: Int?
    /// To whom the client addresses its assertions (RFC 7523), if the profile is wrong about that.
    package var assertionAudience: AssertionAudience?
    /// Whether it is added because a resource has named it.
    package var isOfResources = false
    /// Of a client that registered itself.
    package var management: RegistrationManagement?
    package var clientSecretExpiresAt: Date?

    public init(
        name: String,
        issuer: Issuer? = nil,
        authorizationEndpoint: EndpointURL? = nil,
        tokenEndpoint: EndpointURL,
        revocationEndpoint: EndpointURL? = nil,
        clientID: ClientID,
        authentication: ClientAuthentication = .none,
        scope: Scope? = nil,
        redirectURI: RedirectURI? = nil,
        dpop: DPoPPolicy = .optional,
        requiresIssuerInCallback: Bool = false
    ) {
        self.name = name
        self.issuer = issuer
        self.authorizationEndpoint = authorizationEndpoint
        self.tokenEndpoint = tokenEndpoint
        self.revocationEndpoint = revocationEndpoint
        self.clientID = clientID
        self.authentication = authentication
        self.scope = scope
        self.redirectURI = redirectURI
        self.dpop = dpop
        self.requiresIssuerInCallback = requiresIssuerInCallback
    }

    /// A provider as its own metadata describes it (RFC 8414). With a certificate, its endpoints are those for clients that
    /// show one (RFC 8705 §5), and tokens are bound to it if the provider does that.
    public init(
        name: String, metadata: ServerMetadata, clientID: ClientID, authentication: ClientAuthentication = .none,
        scope: Scope? = nil, redirectURI: RedirectURI? = nil, dpop: DPoPPolicy = .optional,
        tokenCertificate: ClientCertificate? = nil
    ) {
        let showsCertificate = tokenCertificate != nil || authentication.certificate != nil
        let metadata = showsCertificate ? metadata.forMutualTLS : metadata
        self.init(
            name: name, issuer: metadata.issuer,
            authorizationEndpoint: metadata.authorizationEndpoint,
            tokenEndpoint: metadata.tokenEndpoint,
            revocationEndpoint: metadata.revocationEndpoint, clientID: clientID,
            authentication: authentication, scope: scope, redirectURI: redirectURI, dpop: dpop,
            requiresIssuerInCallback: metadata.authorizationResponseIssParameterSupported)
        pushedAuthorizationEndpoint = metadata.pushedAuthorizationRequestEndpoint
        introspectionEndpoint = metadata.introspectionEndpoint
        deviceAuthorizationEndpoint = metadata.deviceAuthorizationEndpoint
        jwksURI = metadata.jwksURI
        requiresPushedRequests = metadata.requirePushedAuthorizationRequests
        self.tokenCertificate = tokenCertificate
        bindsTokensToCertificate = showsCertificate && metadata.tlsClientCertificateBoundAccessTokens
    }
}

/// One line of a listing of providers. A row that cannot be opened is listed as such: never hidden, never in the way.
package enum ProviderEntry: Sendable, Equatable {
    case provider(Provider)
    /// The row with this random handle does not open; the sentence says what is wrong.
    case damaged(handle: String, String)

    /// Nil for a damaged one.
    package var provider: Provider? {
        if case .provider(let provider) = self { provider } else { nil }
    }
}

extension Provider: PublicRendering {
    var shown: ShownFields {
        [
            "name": ShownFields.name(name), "issuer": issuer, "authorizationEndpoint": authorizationEndpoint,
            "tokenEndpoint": tokenEndpoint, "clientID": clientID, "scope": scope, "redirectURI": redirectURI,
            "dpop": dpop, "profile": profile, "apiOrigins": apiOrigins,
        ]
    }
}

extension ProviderRegistration: PublicRendering {
    var shown: ShownFields {
        [
            "name": ShownFields.name(name), "issuer": issuer, "authorizationEndpoint": authorizationEndpoint,
            "tokenEndpoint": tokenEndpoint, "revocationEndpoint": revocationEndpoint,
            "pushedAuthorizationEndpoint": pushedAuthorizationEndpoint, "introspectionEndpoint": introspectionEndpoint,
            "deviceAuthorizationEndpoint": deviceAuthorizationEndpoint, "jwksURI": jwksURI, "clientID": clientID,
            "scope": scope, "redirectURI": redirectURI, "dpop": dpop, "profile": profile, "apiOrigins": apiOrigins,
        ]
    }
}
