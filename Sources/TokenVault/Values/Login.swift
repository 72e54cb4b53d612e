public import FoundationEssentials
public import OAuthClient

/// A login as the vault knows it. Nothing in it is secret, except that it connects a user with a provider.
public struct Login: Sendable, Equatable {
    public let id: LoginID
    /// Within the tenant, if it comes from ``UserManager/scoped(to:)`` or was asked for with a tenant; otherwise the qualified id:
    /// see ``Tenant``.
    public internal(set) var userId: String
    /// The provider's name in this vault; nil for a login whose tokens come from the app alone. A provider whose row is
    /// damaged is called `damaged:` and its handle.
    public internal(set) var provider: String?
    public let state: SessionState
    /// The app's label, which distinguishes a user's logins.
    public let label: String?
    /// The app's own data about the login: see ``UserManager/setMetadata(_:of:)``.
    public let metadata: [String: String]
    public let scope: Scope?
    public let tokenType: TokenType
    /// How many links of the login's chain have been stored.
    public let generation: Int
    /// When the login was made.
    public let createdAt: Date
    /// When the current token was obtained.
    package let obtainedAt: Date
    /// When the access token expires; nil if unknown.
    public let expiresAt: Date?
    package let expirySource: ExpirySource
    /// Whether there is a refresh token.
    public let isRefreshable: Bool
    /// Whether the chain is bound to a DPoP key held by the vault.
    public let isDPoPBound: Bool
    /// The *refresh failed* flag.
    public let failure: RefreshFailure?
    /// Whether the provider wants the user to act before it renews this login. It is not dead.
    public let needsUser: Bool
    /// No renewal is tried before this time: a backoff, or because the server asked for it.
    package let notBefore: Date?
    /// A renewal may have reached the server and no usable reply came; the same refresh token is sent again.
    package let isInDoubt: Bool
    /// Why no refresh token is sent for the login until an operator decides; nil: nothing holds it.
    package let hold: Hold?
    /// The scope that the user granted; nil if neither the provider nor the app has named it.
    let grantedScope: Scope?
    /// Members of the provider's replies and callbacks that its profile keeps, such as Salesforce's `instance_url`, and the
    /// values that the log-in brought for the profile's variables.
    public let attributes: [String: String]
    /// The granted authorization details (RFC 9396 §7): a JSON array as the provider wrote it, of at most 8 KiB; nil:
    /// the provider named none. Also among ``attributes``.
    public var authorizationDetails: String? { attributes[Self.detailsName] }
    static let detailsName = "authorization_details"
    /// The provider's last refusal to renew this login; nil after a success.
    package let lastRefusal: Refusal?
    /// Whether that refusal does not pass by itself: someone must look at it.
    package let isRefused: Bool
    /// The user's id at the provider, if a checked id token has named it. No rendering shows it: it may be an e-mail
    /// address.
    public var subject: String? { hiddenSubject.text }
    let hiddenSubject: HiddenText
    /// Access tokens in addition to the login's own, for single resources or with narrower scopes.
    package let resourceTokens: [ResourceToken]
    /// The protected resource that the login is for, and to which alone its tokens go (RFC 9728); nil: the provider decides.
    package let resource: String?
    /// Where the login was imported from; nil: it was not, or its imported chain has ended.
    package let origin: LoginOrigin?
    /// How many refresh tokens this user may have at the provider, and has here. Nil where the provider's profile gives
    /// no limit, in listings of more than one user, and in what a change of tokens returns.
    public internal(set) var tokenLimit: TokenLimit?

    /// An access token in addition to the login's own (RFC 8707), without the token's value.
    package struct ResourceToken: Sendable, Equatable {
        package let resource: String?
        /// The scope that was asked for; nil: what was granted.
        package let requestedScope: Scope?
        package let scope: Scope?
        package let expiresAt: Date?
        /// Whether a resource server refused it.
        package let isRejected: Bool
    }

    /// The reason why a login is held.
    package enum Hold: String, Sendable, Hashable, CaseIterable {
        /// The vault was restored, or its server lost commits: its refresh token may be spent.
        case restore
        /// The system from which it was imported renews it.
        case source
        /// That system and this vault both have renewed it.
        case contested
    }

    /// A renewal that the provider refused.
    package struct Refusal: Sendable, Equatable {
        package let date: Date
        package let answer: ProviderAnswer

        package init(date: Date, answer: ProviderAnswer) {
            self.date = date
            self.answer = answer
        }
    }

    /// The number of refresh tokens for one user and client above which a provider silently ends the oldest one.
    public struct TokenLimit: Sendable, Equatable {
        public let maximum: Int
        /// Logins of this user at this provider that have a refresh token, as far as this vault knows.
        public let held: Int

        /// Whether another log-in ends the oldest login.
        public var isReached: Bool { held >= maximum }
    }
}

/// The other system that a login comes from, and the owner of its chain.
package struct LoginOrigin: Sendable, Hashable {
    /// The system that may spend the refresh token.
    package enum Owner: String, Sendable, Hashable, CaseIterable {
        /// The other system: this vault serves the access token, and sends nothing.
        case source
        /// This vault.
        case vault
        /// Both have spent it: this vault sends nothing until an operator decides.
        case contested
    }

    /// The operator's name for the other system.
    package let source: String
    package let owner: Owner
    /// The time at which its tokens were last taken over.
    package let takenAt: Date
    /// Whether the last complete reading of the source did not find the login.
    package let isMissing: Bool
    /// Whether the login did not come from that system, but was exported to it.
    package let isExported: Bool
}

/// The origin of an access token's expiry.
package enum ExpirySource: String, Sendable, Equatable, CaseIterable {
    /// The provider, or the app, gave it.
    case told
    /// The provider gave none. It is the usual lifetime from the provider's profile, or that of the login's earlier
    /// tokens.
    case assumed
    /// It is unknown: the token is used until ``UserManager/reportRejected(_:)``.
    case unknown
}

/// One line of a listing of logins. A row that cannot be opened is listed as such: never hidden, never in the way.
public enum LoginEntry: Sendable, Equatable {
    case login(Login)
    /// The row of this login does not open; the sentence says what is wrong.
    case damaged(LoginID, String)
}

/// Text that is compared and read, and that no rendering shows.
struct HiddenText: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let text: String?

    var description: String { text == nil ? "none" : "<hidden>" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}

extension Login {
    /// What the login lacks of a scope; nil: nothing. Ask the user for it with ``LogInRequest``'s `adding`, which keeps what was
    /// granted before.
    ///
    /// ```swift
    /// if let missing = login.missingScopes(of: try Scope("calendar.write")) {
    ///     let request = try await users.beginLogIn(LogInRequest(into: .login(login.id), adding: missing))
    /// }
    /// ```
    ///
    /// A login whose grant is unknown is taken to lack all of it.
    public func missingScopes(of wanted: Scope) -> Scope? {
        let granted = Set(grantedScope?.tokens ?? [])
        let missing = wanted.tokens.filter { !granted.contains($0) }
        return missing.isEmpty ? nil : try? Scope(tokens: missing)
    }
}

extension Login: PublicRendering {
    var shown: ShownFields {
        [
            "id": id, "userId": ShownFields.name(userId), "provider": ShownFields.name(provider), "state": state,
            "label": label, "metadata": metadata, "scope": scope, "tokenType": tokenType, "generation": generation,
            "createdAt": createdAt, "expiresAt": expiresAt, "isRefreshable": isRefreshable,
            "isDPoPBound": isDPoPBound, "failure": failure, "needsUser": needsUser, "attributes": attributes,
            "tokenLimit": tokenLimit,
        ]
    }
}

extension Login.TokenLimit: PublicRendering {
    var shown: ShownFields {
        [
            "maximum": maximum, "held": held,
        ]
    }
}
