package import VaultCrypto

/// An authorization server and our client registration there. It is sealed as a whole, so that an endpoint cannot be
/// redirected without a key.
package struct ProviderRecord: Equatable, Sendable {
    /// How a client proves possession of its tokens at this provider.
    package enum DPoPPolicy: UInt8, Hashable, Sendable, CaseIterable {
        case never = 1
        case whenSupported = 2
        case required = 3
    }

    /// Unique in the vault.
    package var name: String
    package var issuer: String?
    package var authorizationEndpoint: String?
    package var tokenEndpoint: String
    package var revocationEndpoint: String?
    package var introspectionEndpoint: String?
    package var pushedAuthorizationEndpoint: String?
    /// Where devices ask for codes (RFC 8628).
    package var deviceAuthorizationEndpoint: String?
    package var jwksURI: String?
    package var clientID: String
    /// The method's name in the registry of RFC 7591 §2, such as `client_secret_basic`.
    package var clientAuthentication: String
    /// The secret to send first, then others that may still be valid.
    package var clientSecrets: [SecretBytes] = []
    package var defaultScope: String?
    package var scopesSupported: [String] = []
    package var redirectURI: String?
    package var dpop: DPoPPolicy = .whenSupported
    /// Whether callbacks must name the issuer (RFC 9207 §3).
    package var requiresIssuerInCallback = false
    package var profileName: String
    /// The profile's file, if it is not one of the library's own. It is sealed here, so that changing a file cannot
    /// change how requests to the provider are sent and its replies are read.
    package var profileDocument: String?
    /// The id of the registered client key that signs assertions (RFC 7523).
    package var clientKeyID: String?
    /// The signature algorithm, if the kind of key allows several (RFC 7518): `RS256` or `PS256`.
    package var clientKeyAlgorithm: String?
    /// Whether only pushed authorization requests are accepted (RFC 9126 §5).
    package var requiresPushedRequests = false
    /// The client's TLS certificates in PEM, its own first (RFC 8705).
    package var clientCertificate: String?
    /// The private key of the first certificate, in PEM.
    package var clientCertificateKey: SecretBytes?
    /// Whether access tokens are valid only together with that certificate (RFC 8705 §3).
    package var bindsTokensToCertificate = false
    /// The URI that manages the client's registration, if the client registered itself (RFC 7592).
    package var registrationURI: String?
    /// The token for that URI.
    package var registrationToken: SecretBytes?
    /// When the first client secret expires, if the provider reported it.
    package var clientSecretExpiresAt: Timestamp?
    /// Extra parameters of authorization requests.
    package var parameters: [String: String] = [:]
    /// The origins to which the provider's tokens may be sent; empty for every `https` URL.
    package var apiOrigins: [String] = []
    /// The number of logins that the provider may end in a row before further ends are not believed; nil for the usual
    /// number, 0 for no limit.
    package var mostDeaths: Int?
    /// The number of days for which the refresh token of a login without a key is kept after the provider has ended it;
    /// nil to destroy it at once.
    package var daysEndedIsKept: Int?
    /// The audience of the client's assertions: `issuer` or `token-endpoint`; nil to use the profile's.
    package var assertionAudience: String?
    /// Whether it was added because a resource named it: then its client is for whatever resource names it.
    package var isOfResources = false
    package var createdAt: Timestamp

    package init(
        name: String, issuer: String?, tokenEndpoint: String, clientID: String, clientAuthentication: String,
        profileName: String, createdAt: Timestamp
    ) {
        self.name = name
        self.issuer = issuer
        self.tokenEndpoint = tokenEndpoint
        self.clientID = clientID
        self.clientAuthentication = clientAuthentication
        self.profileName = profileName
        self.createdAt = createdAt
    }
}

package struct StoredProvider: Equatable, Sendable {
    package let handle: ProviderHandle
    package let revision: Int64
    package let record: ProviderRecord
}
