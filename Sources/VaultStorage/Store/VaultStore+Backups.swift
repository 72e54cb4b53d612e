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

    /// Whether there is a login from before the last restore that was not accepted.
    package func mayHoldLogins() async throws -> Bool {
        try await survey { reader in try reader.withSnapshot { () throws(StoreError) in try reader.mayHoldLogins() } }
    }

    /// Lets held logins be renewed again, in one transaction. Skips logins that are damaged, missing or not held.
    ///
    /// - Parameter schedule: sets when an accepted login is due.
    package func acceptRestored(
        _ logins: [LoginHandle], _ schedule: @escaping @Sendable (inout LoginState) -> Void
    ) async throws -> AcceptedLogins {
        let results = try await updateEach(logins) { state -> Bool? in
            guard state.acceptRestore() else { return nil }
            schedule(&state)
            return state.session.state != .terminated
        }
        return AcceptedLogins(
            living: results.filter { $0.value == true }.map { $0.login }, ended: results.count { $0.value == false })
    }
}

/// The logins of one call that a restore holds no longer.
package struct AcceptedLogins: Sendable {
    package var living: [LoginHandle]
    /// How many had been terminated: they are not renewed, whatever holds them.
    package var ended: Int
}
