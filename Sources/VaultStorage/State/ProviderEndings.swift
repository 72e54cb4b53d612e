/// How logins of a provider have ended of late, as the audit trail records it.
package struct ProviderEndings: Equatable, Sendable {
    /// Since when the provider is stopped: it has ended too many logins in a row. Nil: it is not.
    package var stoppedAt: Timestamp?
    /// How many logins that were.
    package var stoppedAfter: Int?
    /// When an operator last said that such ends are right.
    package var acceptedAt: Timestamp?
    /// Different logins that ended since a login of the provider was last renewed, or since it was let go on.
    package var inARow = 0
    /// Ends and renewals before those, as far as they were counted.
    package var endedBefore = 0
    package var renewedBefore = 0

    package init() {}
}
