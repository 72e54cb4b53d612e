package import FoundationEssentials
package import TokenVault
import VaultStorage

/// The key of a vault's audit trail.
package struct AuditKeyStatus: Sendable, Hashable {
    /// When it was made: with the vault, or by a replacement.
    package let madeAt: Date
    /// Keys of earlier parts of the trail. Each is kept until the last row under it has been pruned.
    package let formerKeys: Int
}

extension Vault {
    /// How old the key of the audit trail is, and how many former ones are kept.
    package func auditKeyStatus() async throws -> AuditKeyStatus {
        try await VaultError.translating {
            let status = try await store.auditKeyStatus()
            return AuditKeyStatus(
                madeAt: (status.madeAt ?? store.context.createdAt).date, formerKeys: status.formerKeys)
        }
    }

    /// Writes the audit trail under a new key from the next row on.
    ///
    /// Anyone with the audit key and write access to the vault's file can forge rows of the trail. A rotation of the
    /// root key does not change that. Existing rows keep their links, under the former key; the first row under the new
    /// one covers them all, so the former key no longer allows unnoticed changes to them. Nothing has to be stopped:
    /// other processes take up the new key by themselves.
    ///
    /// - Throws: ``VaultError``; ``VaultError/Code/conflict`` if the trail has rows under 32 former keys.
    package func replaceAuditKey() async throws {
        try await VaultError.translating { try await store.replaceAuditKey() }
    }
}
