extension UserManager {
    /// Cleans up once after processes that have ended, and settles doubts that are due.
    ///
    /// A manager does this by itself when it is created, if there is anything to do, and every
    /// ``UserManagerOptions/recoveryInterval``. Any number of managers and processes may do it at once: the work is
    /// shared, and nothing is done twice. Nothing is sent for a login that is dead, held, ended or postponed, nor to a
    /// provider that refuses this client.
    ///
    /// Returns when all that was found has been tried, which may take as long as the providers take.
    @discardableResult
    package func recover() async throws -> RecoveryReport {
        try vault.requireOpen()
        return await recovery.recover()
    }
}
