/// What one pass of recovery did.
public struct RecoveryReport: Sendable, Equatable {
    /// Replies that the vault could not take when they came, and that are stored now or queued to be revoked.
    public var restoredReplies: Int
    /// Renewals that were open and are settled now.
    public var settledRenewals: Int
    /// Renewals that are still open and not being worked on: postponed, or not settled by this try.
    public var openRenewals: Int
}
