package import TokenVault
import VaultCrypto
import VaultSQLite
package import VaultStorage

extension Vault {
    /// The backups that hold this user, as far as the vault remembers them. Such a backup is readable for anyone who
    /// has it and a key that opened the vault when it was made, also after the user is erased here.
    package func backups(holding userId: String) async throws -> [Backup] {
        let all = try await backups().compactMap(\.backup)
        do {
            let user = try await user(userId)
            return all.filter { $0.madeAt >= user.createdAt }
        } catch let error as VaultError where error.code == .quarantined {
            // The time since when such a user exists cannot be read.
            return all
        }
    }

    /// Reads the header of a backup's file. Needs no key, and proves nothing beyond what the file claims.
    package static func backup(at path: String) throws -> BackupView {
        try VaultError.translating {
            let file = try BackupFile(at: path)
            return BackupView(file.manifest, path: file.path)
        }
    }

    /// Checks a backup: that no byte of it has changed, and that SQLite can read each of its pages. With a key also
    /// that the vault made it, every cell, and the audit chain. Changes nothing.
    ///
    /// - Parameters:
    ///   - path: The backup.
    ///   - source: A key that opened the vault when the backup was made; nil: only the checks that need none.
    ///   - options: How the key may be tried.
    ///   - evidence: The files for a restore, to check that they can be read.
    ///   - progress: Called now and then with how many rows have been checked, of how many; first with 0 of 0, while
    ///   the bytes are.
    /// - Returns: The findings with the key; nil without one.
    /// - Throws: ``VaultError``, such as ``VaultError/Code/damaged``.
    package static func verifyBackup(
        at path: String, unlockedBy source: KeySource? = nil, options: VaultOptions = .init(), evidence: [String] = [],
        progress: @escaping @Sendable (_ checked: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws -> VerificationReport? {
        let (clock, policy) = (options.clock, options.unlockingPolicy)
        let source = try await source?.resolved()
        let report = try await VaultError.translating {
            try await BlockingLane.care.run {
                // Reading all bytes takes time.
                progress(0, 0)
                let file = try BackupFile(at: path)
                try file.checkBytes()
                try file.checkDatabase()
                _ = try RestoreKnowledge.read(evidence, since: file.manifest)
                guard let source else { return nil as VerificationReport? }
                return try file.verify(by: try source.unlocker(), policy: policy, clock: clock) {
                    progress($0.checked, $0.total)
                }
            }
        }
        return report
    }
}
