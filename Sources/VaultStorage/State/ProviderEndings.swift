/// The recent ends of logins of a provider, according to the audit trail.
package struct ProviderEndings: Equatable, Sendable {
    /// When the provider was stopped because it ended too many logins in a row; nil if it is not stopped.
    package var stoppedAt: Timestamp?
    /// The number of logins that it had ended.
    package var stoppedAfter: Int?
    /// When an operator last accepted such ends.
    package var acceptedAt: Timestamp?
    /// The number of different logins that ended since the last renewal of one of the provider's logins, or since the
    /// provider was released.
    package var inARow = 0
    /// The ends and renewals before those, as far as they were counted.
    package var endedBefore = 0
    package var renewedBefore = 0

    package init() {}
}
