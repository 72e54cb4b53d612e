extension VaultStore {
    /// All known backups, in the order in which they were begun.
    package func backups() async throws(StoreError) -> [BackupListing] {
        try await read { reader throws(StoreError) in try reader.backups() }
    }

    package func forgetBackup(_ handle: BackupHandle) async throws {
        try await write { try $0.forget(handle) }
    }

    /// Logins that a restore holds; see ``Reader/heldLogins(of:after:limit:)``.
    package func heldLogins(
        of provider: ProviderHandle?, after row: Int64? = nil, limit: Int
    ) async throws(StoreError) -> HeldPage {
        try await read { reader throws(StoreError) in try reader.heldLogins(of: provider, after: row, limit: limit) }
    }

    /// The number of logins of each provider, and how many of them are held; nil is the app.
    package func heldCounts() async throws -> [ProviderHandle?: (logins: Int, held: Int)] {
        try await survey { reader in try reader.withSnapshot { () throws(StoreError) in try reader.heldCounts() } }
    }

    /// Lets held logins be renewed again, in one transaction. Skips logins that are damaged, missing or not held.
    ///
    /// - Parameter schedule: sets when an accepted login is due.
    /// - Returns: the accepted logins.
    package func acceptRestored(
        _ logins: [LoginHandle], _ schedule: @escaping @Sendable (inout LoginState) -> Void
    ) async throws -> [LoginHandle] {
        try await updateEach(logins) { state in
            guard state.acceptRestore() else { return false }
            schedule(&state)
            return true
        }.filter { $0.value }.map { $0.login }
    }
}
