package import VaultStorage

// The words in audit rows. Stored: never changed.

extension AuditEvent.Detail.Key {
    /// Which link of the chain a token belongs to.
    static let generation = "generation"
    static let cause = "cause"
    /// Of a dead login: a ``RefreshFailure/Reason``. Of a changed provider: a sentence.
    package static let reason = "reason"
    /// The provider's answer: status and registered code.
    static let answer = "answer"
    /// A ``ScopeChange``.
    static let scope = "scope"
    /// The target of the new token, if it is not the login's own.
    static let target = "for"
    /// Set if the renewal followed a doubt.
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
    /// Why the ids of users were shown.
    package static let purpose = "purpose"
}

/// Why a renewal had no result or was repeated, or why a token counts as rejected. A renewal that is taken over has a
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
    /// The reply held a refresh token, and no usable access token.
    case successorOnly
    /// Another refresh token of the same chain replaces a refused one.
    case otherTokenTaken
    /// Repeated within a doubt.
    case doubt
    /// Repeated for a nonce, a clock or a scope.
    case challenge
    /// The provider reports its own token as not active.
    case introspected
    /// The source of an imported login no longer has it.
    case missing
    /// The provider ended the login, and has ended too many to be believed.
    case providerStopped
    /// The login's resource names another authorization server now.
    case resourceMoved
}

/// How a renewal changed a login's scope.
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
