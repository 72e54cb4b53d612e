package import VaultCrypto

/// An authorization server and our client registration there; sealed as a whole, so that nobody without a key can
/// repoint an endpoint.
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
    /// The profile's file, if it is not one that comes with the library: sealed here, so that nobody can change how a
    /// provider is asked and understood by changing a file.
    package var profileDocument: String?
    /// Which of the client's registered keys signs its assertions (RFC 7523).
    package var clientKeyID: String?
    /// How that key signs, if that is not what its kind always does (RFC 7518): `RS256` or `PS256`.
    package var clientKeyAlgorithm: String?
    /// Whether authorization requests are taken only as pushed ones (RFC 9126 §5).
    package var requiresPushedRequests = false
    /// What the client shows when it opens a TLS connection (RFC 8705): certificates in PEM, its own first.
    package var clientCertificate: String?
    /// The private key of the first of them, in PEM.
    package var clientCertificateKey: SecretBytes?
    /// Whether access tokens are good only together with that certificate (RFC 8705 §3).
    package var bindsTokensToCertificate = false
    /// Where the client's registration is managed, if it registered itself (RFC 7592).
    package var registrationURI: String?
    /// What manages it.
    package var registrationToken: SecretBytes?
    /// When the first client secret ends, if the provider said so.
    package var clientSecretExpiresAt: Timestamp?
    /// Extra parameters of authorization requests.
    package var parameters: [String: String] = [:]
    /// Where the provider's tokens may be sent; empty: to every `https` URL.
    package var apiOrigins: [String] = []
    /// How many logins it may end in a row before that is no longer believed; nil: as many as is usual, 0: any number.
    package var mostDeaths: Int?
    /// For how many days the refresh token of a login without a key is kept after the provider has ended it; nil: it is
    /// destroyed at once.
    package var daysEndedIsKept: Int?
    /// To whom assertions of the client are addressed: `issuer` or `token-endpoint`; nil: as the profile says.
    package var assertionAudience: String?
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
