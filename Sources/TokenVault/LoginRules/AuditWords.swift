package import VaultStorage

// The words that are written into audit rows here, and read from them. Stored: never changed.

extension AuditEvent.Detail.Key {
    /// Which link of the chain a token belongs to.
    static let generation = "generation"
    static let cause = "cause"
    /// Of a dead login: a ``RefreshFailure/Reason``. Of a changed provider: a sentence.
    package static let reason = "reason"
    /// What the provider answered: status and registered code.
    static let answer = "answer"
    /// A ``ScopeChange``.
    static let scope = "scope"
    /// What the new token is for, if it is not the login's own.
    static let target = "for"
    /// That the renewal followed a doubt.
    static let after = "after"
    /// Where the reply was kept until it was stored.
    static let from = "from"
    static let suspected = "suspected"
    /// How often the refresh token has been sent.
    static let attempt = "try"
    /// Where an expiry comes from.
    static let expiry = "expiry"
    /// A kept reply.
    package static let reply = "reply"
    static let forced = "forced"
    /// What the ids of users were shown for.
    package static let purpose = "purpose"
}

/// Why a renewal came to nothing or was repeated, or why a token counts as rejected. A renewal that is taken over says a
/// ``RenewalDoubt/Cause`` instead.
package enum AuditCause: String, CaseIterable, Sendable {
    /// The provider wants the user to act.
    case needsUser
    case misconfigured
    case targetRefused
    case transient
    case notSent
    /// No caller waits for the app's answer any longer.
    case withdrawn
    /// The reply held a refresh token, and no access token that may be used.
    case successorOnly
    /// Another refresh token of the same chain takes the place of a refused one.
    case otherTokenTaken
    /// Repeated within a doubt.
    case doubt
    /// Repeated for a nonce, a clock or a scope.
    case challenge
    /// The provider says of its own token that it is not active.
    case introspected
    /// The source of an imported login no longer has it.
    case missing
    /// The provider ended the login, and has ended too many to be believed.
    case providerStopped
}

/// What a renewal did to the rights that a login has.
enum ScopeChange: String, CaseIterable, Sendable {
    case narrower, wider
}

extension AuditEvent.Detail {
    static func cause(_ cause: AuditCause) -> Self { Self(Key.cause, cause.rawValue) }
    static func cause(_ cause: RenewalDoubt.Cause) -> Self { Self(Key.cause, cause.description) }
    package static func reason(_ reason: RefreshFailure.Reason) -> Self { Self(Key.reason, reason.description) }
}

extension AuditEntry {
    /// Nil: none, or one that this version does not know.
    var cause: AuditCause? { value(AuditEvent.Detail.Key.cause).flatMap { AuditCause(rawValue: $0) } }
    var scopeChange: ScopeChange? { value(AuditEvent.Detail.Key.scope).flatMap { ScopeChange(rawValue: $0) } }
}
