public import FoundationEssentials

/// Something that happened to a login, or to a provider and all of its logins: in this process, in another, or by
/// `vaultctl`.
///
/// ```swift
/// for await event in users.events(userId: "alice") {
///     switch event.kind {
///     case .willExpire(let date): print("expires at \(date)")
///     case .refreshFailed(let failure): askToLogIn("alice", failure.reason)
///     case .missed: lookAgain()
///     default: break
///     }
/// }
/// ```
public struct SessionEvent: Sendable, Equatable {
    public internal(set) var kind: Kind
    /// Nil for ``Kind/missed(count:)`` and for events about a provider.
    public let login: LoginID?
    /// The user's id within their ``tenant``. Nil where ``login`` is, and for a user who has since been erased.
    public internal(set) var userId: String?
    /// The tenant of the user, or of the provider that the event is about; nil if they belong to none. A manager that is not
    /// scoped takes ``userId`` for a user of no tenant: continue with ``UserManager/scoped(to:)``.
    public internal(set) var tenant: Tenant?
    /// Which link of the login's chain the event is about. With ``login`` it names a token: use the two to recognise
    /// duplicates from several processes. Nil where ``login`` is.
    public let generation: Int?
    /// When it happened.
    public let date: Date
    /// With ``Kind/refreshFailed(_:)`` and ``Kind/error(_:)``: the provider's status, and its error code if that is a
    /// registered one, such as `400 invalid_grant`. `vaultctl login show` has its words.
    public internal(set) var answer: String?
    /// For an event that was read by ``UserManager/events(after:of:)``: where to continue once it has been handled.
    public internal(set) var cursor: EventCursor?

    public enum Kind: Sendable, Equatable {
        /// The access token expires soon: reported three minutes before, or at once if less is left when the token is
        /// set. Once per token.
        case willExpire(at: Date)
        /// The access token has expired. Always after ``willExpire(at:)``, once for each token.
        case expired
        /// A new access token is stored.
        case updated
        case stateChanged(SessionState)
        /// The login is dead: nothing is sent for it before the app sets a new token.
        case refreshFailed(RefreshFailure)
        /// The login works again, after it was dead, terminated, or needed its user: it has a new token or chain, or
        /// its flag was lifted.
        case recovered
        /// The new token's rights differ from those of the one before it.
        ///
        /// - Parameter isNarrower: Whether it lacks a right that the one before had.
        case scopeChanged(isNarrower: Bool)
        /// The refresh token, or the whole grant, ends at this time: the user must log in again before then.
        case refreshTokenWillExpire(at: Date)
        /// An unusable token was handed in, or a renewal met a problem that only a person can fix.
        case error(VaultError.Code)
        /// The provider has ended this many logins in a row, without a renewal in between. It may be malfunctioning, so
        /// until ``providerResumed(name:)`` it ends no other login: the ones that it refuses wait. For subscribers to
        /// all logins.
        case providerStopped(name: String, ended: Int)
        /// A stopped provider is trusted again: a renewal succeeded, or an operator confirmed that it was right to end
        /// the logins.
        case providerResumed(name: String)
        /// The provider's replies contradict its profile, or what they were before: its rules seem to have changed.
        /// Nothing changes by itself; `vaultctl provider drift` shows the findings. Once for each, for subscribers to all
        /// logins.
        case providerDrifted(name: String)
        /// The subscriber was too slow, or the vault's record was cut: at least this many events are lost. Read again
        /// what you need to know.
        case missed(count: Int)
    }

    package init(
        _ kind: Kind, login: LoginID?, userId: String?, generation: Int?, date: Date
    ) {
        self.kind = kind
        self.login = login
        self.userId = userId
        self.generation = generation
        self.date = date
    }
}

extension SessionEvent.Kind {
    /// Whether it follows from time alone: no row of the audit trail says so.
    var isOfTime: Bool {
        switch self {
        case .willExpire, .expired: true
        default: false
        }
    }

    /// The name that logs and `vaultctl` show.
    package var name: String {
        switch self {
        case .willExpire: "willExpire"
        case .expired: "expired"
        case .updated: "updated"
        case .stateChanged: "stateChanged"
        case .refreshFailed: "refreshFailed"
        case .recovered: "recovered"
        case .scopeChanged: "scopeChanged"
        case .refreshTokenWillExpire: "refreshTokenWillExpire"
        case .error: "error"
        case .providerStopped: "providerStopped"
        case .providerResumed: "providerResumed"
        case .providerDrifted: "providerDrifted"
        case .missed: "missed"
        }
    }
}

extension SessionEvent: PublicRendering {
    var shown: ShownFields {
        [
            "kind": kind, "login": login, "userId": ShownFields.name(userId), "generation": generation, "date": date,
            "answer": answer, "cursor": cursor,
        ]
    }
}
