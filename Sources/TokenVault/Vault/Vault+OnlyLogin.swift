import VaultStorage

extension Vault {
    /// The login that is meant where only its user is named: the one that is not ended, or the only one at all.
    ///
    /// - Throws: ``VaultError``: `ambiguousLogin` with the logins to choose from, `quarantined` where a damaged one may be
    ///   meant, `notLoggedIn`, `unknownUser`.
    package func onlyLogin(ofUser userId: String) async throws -> LoginID {
        await LoginID(try session(.user(try ArgumentCheck.userId(userId))).login)
    }
}
