import FoundationEssentials
import TokenVault
import VaultAdministration
import VaultStorage

/// An erasure as the audit trail records it.
enum ErasureView {
    /// - Parameter handle: the user's; nil: their row could not be opened.
    static func record(of handle: String?, in vault: Vault) async throws -> OutputRecord {
        let head = try await vault.auditHead()
        let query = AuditQuery(userHandle: handle, kinds: ["userErased"])
        let last = try await vault.auditRecords(before: head + 1, limit: 1).records.first
        var (row, next) = (nil as AuditRecord?, Optional(head + 1))
        // A page may contain none, and the next one some.
        while row == nil, let end = next {
            let page = try await vault.auditRecords(before: end, query, limit: 1)
            (row, next) = (page.records.first, page.next)
        }
        let waiting: Int? = if let handle { try await vault.revocationsWaiting(ofUser: handle) } else { nil }
        return [
            .data("vault", try await vault.status().vaultID), .data("handle", row?.userHandle ?? handle),
            .data("row", row.map { Int($0.sequence) }), .data("at", row?.date), .data("link", row.map(link)),
            .data("pendingRevocations", waiting),
            .data("head", [.data("sequence", Int(head)), .data("link", last.map(link))] as OutputRecord),
        ]
    }

    private static func link(_ record: AuditRecord) -> String? {
        record.link.map { Data($0).base64EncodedString() }
    }
}
