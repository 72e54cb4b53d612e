package import VaultCrypto

/// What must be remembered between sending a user to the authorization server and his coming back; sealed, found by
/// the blind index of ``state``, and taken once.
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
    /// The hash of the secret that the browser holds which began the log-in. Absent in requests of before there was one:
    /// these can only be completed unbound.
    package var bindingHash: SecretBytes?
    /// What the app wants back with the login.
    package var context: [String: String] = [:]
    /// Where the access tokens are to be used (RFC 8707): named again when the code is redeemed.
    package var resources: [String] = []
    /// What the id token must repeat (OpenID Connect Core §3.1.2.1).
    package var idTokenNonce: SecretBytes?
    /// How many seconds ago the user may have authenticated at most.
    package var maximumAge: Int64?
    /// The login whose chain the new one replaces; nil: a login of its own.
    package var target: ReplacedLogin?
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

/// The login into which a user logs in again.
package struct ReplacedLogin: Hashable, Sendable {
    package var login: LoginHandle
    /// The login's chain when the log-in began: a login that was ended since stays ended.
    package var chain: Int64
    /// Whether the account at the provider may be another one than before.
    package var acceptsOtherAccount: Bool

    package init(login: LoginHandle, chain: Int64, acceptsOtherAccount: Bool) {
        self.login = login
        self.chain = chain
        self.acceptsOtherAccount = acceptsOtherAccount
    }
}

/// What a callback shows of itself: which log-in it answers, and that it comes from the browser that began it.
package struct CallbackProof: Sendable {
    package enum Binding: Sendable {
        /// Any browser may complete the log-in.
        case unbound
        /// The hash of what the browser brought.
        case browser(SecretBytes)
    }

    package var state: SecretBytes
    package var binding: Binding
    /// Whose session the callback came in.
    package var userId: String?
    /// How the id of the log-in's user must begin: of another one the log-in is not there.
    package var userIdPrefix: String?

    package init(state: SecretBytes, binding: Binding, userId: String? = nil) {
        self.state = state
        self.binding = binding
        self.userId = userId
    }

    /// Nil: the log-in may be completed.
    package func refusal(for record: AuthorizationRequestRecord) -> StoreError? {
        if case .browser(let hash) = binding, record.bindingHash != hash {
            return StoreError(.logInNotBound, "this browser did not begin this log-in")
        }
        if let userId, !userId.utf8.elementsEqual(record.userId.utf8) {
            return StoreError(.logInNotBound, "this log-in was begun for another user")
        }
        if let userIdPrefix, !record.userId.utf8.starts(with: userIdPrefix.utf8) {
            return .notFound(.authorizationRequest)
        }
        return nil
    }
}
