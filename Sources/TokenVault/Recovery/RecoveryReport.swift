/// The results of one pass of recovery.
package struct RecoveryReport: Sendable, Equatable {
    /// Replies that the vault could not take when they came, and that are stored now or queued to be revoked.
    package var restoredReplies: Int
    /// Renewals that were open and are settled now.
    package var settledRenewals: Int
    /// Renewals that are still open and not in progress: postponed, or not settled by this try.
    package var openRenewals: Int
}
