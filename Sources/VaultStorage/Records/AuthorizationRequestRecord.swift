package import VaultCrypto

/// The data to remember between sending a user to the authorization server and their return. It is sealed, found by the
/// blind index of ``state``, and taken once.
package struct AuthorizationRequestRecord: Equatable, Sendable {
    package var state: SecretBytes
    package var codeVerifier: SecretBytes
    package var provider: ProviderHandle
    package var userId: String
    package var redirectURI: String?
    package var scope: String?
    package var dpopPrivateKey: SecretBytes?
    /// The latest DPoP nonce of each origin, from a pushed request.
    package var nonces: [String: String] = [:]
    package var label: String?
    /// The hash of the secret in the browser that began the log-in. It is absent in requests from before this field
    /// existed: these can only be completed unbound.
    package var bindingHash: SecretBytes?
    /// The app's own data, returned with the login.
    package var context: [String: String] = [:]
    /// The resources for which access tokens are requested (RFC 8707). They are named again when the code is redeemed.
    package var resources: [String] = []
    /// The nonce that the id token must repeat (OpenID Connect Core §3.1.2.1).
    package var idTokenNonce: SecretBytes?
    /// The maximum age of the user's authentication, in seconds.
    package var maximumAge: Int64?
    /// The login whose chain the new one replaces; nil for a new login.
    package var target: ReplacedLogin?
    /// Values that the addresses of the provider need, by the names of its profile's variables.
    package var variables: [String: String] = [:]
    /// The protected resource that the login will be for, and for no other.
    package var resource: String?
    /// With a log-in that asks for more than before: the browser's URL, the secret of its browser, and until when the
    /// provider takes the URL, so that whoever needs the same of the user sends them there.
    package var stepUp: PendingStepUp?
    package var createdAt: Timestamp
    package var expiresAt: Timestamp

    package init(
        state: SecretBytes, codeVerifier: SecretBytes, provider: ProviderHandle, userId: String,
        redirectURI: String? = nil, scope: String? = nil, dpopPrivateKey: SecretBytes? = nil, label: String? = nil,
        createdAt: Timestamp, expiresAt: Timestamp
    ) {
        self.state = state
        self.codeVerifier = codeVerifier
        self.provider = provider
        self.userId = userId
        self.redirectURI = redirectURI
        self.scope = scope
        self.dpopPrivateKey = dpopPrivateKey
        self.label = label
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }
}

/// The way to a consent that has been begun.
package struct PendingStepUp: Equatable, Sendable {
    /// Empty: it asks more of the user than a scope, and is given out only once.
    package var url: SecretBytes
    package var binding: SecretBytes
    package var urlExpiresAt: Timestamp

    package init(url: SecretBytes, binding: SecretBytes, urlExpiresAt: Timestamp) {
        self.url = url
        self.binding = binding
        self.urlExpiresAt = urlExpiresAt
    }
}

/// The login into which a user logs in again.
package struct ReplacedLogin: Hashable, Sendable {
    package var login: LoginHandle
    /// The login's chain when the log-in began: a login that was ended since then stays ended.
    package var chain: Int64
    /// Whether the account at the provider may differ from the former one.
    package var acceptsOtherAccount: Bool

    package init(login: LoginHandle, chain: Int64, acceptsOtherAccount: Bool) {
        self.login = login
        self.chain = chain
        self.acceptsOtherAccount = acceptsOtherAccount
    }
}

/// The proof that a callback carries: the log-in that it answers, and the browser that it comes from.
package struct CallbackProof: Sendable {
    package enum Binding: Sendable {
        /// Any browser may complete the log-in.
        case unbound
        /// The hash of the secret that the browser sent.
        case browser(SecretBytes)
    }

    package var state: SecretBytes
    package var binding: Binding
    /// The user in whose session the callback arrived.
    package var userId: String?
    /// The prefix of the user ids of the tenant in whose session the callback arrived.
    package var tenantPrefix: String?
    /// The required prefix of the log-in's user id. For another user the log-in does not exist.
    package var userIdPrefix: String?

    package init(state: SecretBytes, binding: Binding, userId: String? = nil) {
        self.state = state
        self.binding = binding
        self.userId = userId
    }

    /// The reason to refuse the callback; nil if the log-in may be completed.
    package func refusal(for record: AuthorizationRequestRecord) -> StoreError? {
        if case .browser(let hash) = binding, record.bindingHash != hash {
            return StoreError(.logInNotBound, "this browser did not begin this log-in")
        }
        if let userId, !userId.utf8.elementsEqual(record.userId.utf8) {
            return StoreError(.logInNotBound, "this log-in was begun for another user")
        }
        if let tenantPrefix, !record.userId.utf8.starts(with: tenantPrefix.utf8) {
            return StoreError(.logInNotBound, "this log-in was begun in another tenant")
        }
        if let userIdPrefix, !record.userId.utf8.starts(with: userIdPrefix.utf8) {
            return .notFound(.authorizationRequest)
        }
        return nil
    }
}
