import FoundationEssentials
import TokenVault
import VaultStorage

/// The evidence about the time between a backup and the loss of its vault: which logins may have spent the refresh
/// token that the backup holds.
package struct RestoreKnowledge: Sendable, Equatable {
    package enum Source: String, Sendable, Equatable {
        /// None: any login may have advanced.
        case none
        /// An export of the audit trail records events up to its end, and none after it. All logins are held.
        case auditExport
        /// A witness log names each login whose refresh token was sent. If it is complete, only those are held.
        case witnessLog
    }

    package internal(set) var source: Source = .none
    /// Logins that are known to have possibly advanced; not all of them need be in the backup.
    package internal(set) var movedLogins = 0
    /// Why others may have advanced too, so that all are held; nil: these are all.
    package internal(set) var doubt: String?
    /// The last row of the audit trail that the evidence or the witness has seen; nil: unknown. Rows after the backup's
    /// own last row, ``BackupView/auditSequence``, are lost.
    package internal(set) var lastSeenRow: Int64?

    /// Reads the files that the operator has named.
    ///
    /// - Returns: The knowledge, and the evidence that the restore follows.
    static func read(
        _ paths: [String], since backup: BackupManifest
    ) throws -> (RestoreKnowledge, RestoreEvidence) {
        var knowledge = RestoreKnowledge()
        let exports = try paths.filter { path throws(StoreError) in try EvidenceFile(path).isJSON() }
        let logs = paths.filter { !exports.contains($0) }
        let trail = exports.isEmpty ? nil : try ExportedTrail(exports, since: backup)
        knowledge.lastSeenRow = trail?.lastRow
        guard !logs.isEmpty else {
            knowledge.source = trail == nil ? .none : .auditExport
            knowledge.doubt =
                trail == nil
                ? "nothing is known of the time since the backup"
                : "the export does not cover events after its last row"
            knowledge.movedLogins = trail?.moved.count ?? 0
            return (knowledge, .none)
        }
        let moved = try MovedLogins(logs, since: backup)
        let unlogged = (trail?.moved ?? []).subtracting(moved.logins.map(\.text))
        knowledge.source = .witnessLog
        knowledge.movedLogins = moved.logins.count + unlogged.count
        knowledge.doubt = moved.doubt
        // A process that did not name the log leaves no trace in it.
        if knowledge.doubt == nil, !unlogged.isEmpty {
            knowledge.doubt = "the log lacks renewals that the export of the audit log has"
        }
        return (knowledge, knowledge.doubt == nil ? .moved(moved.logins) : .none)
    }
}

/// Rows of the audit trail that were exported after a backup was made.
private struct ExportedTrail {
    private(set) var moved: Set<String> = []
    private(set) var lastRow: Int64?

    private struct Row: Decodable {
        var sequence: Int64?
        var kind: String?
        var login: String?
    }

    init(_ paths: [String], since backup: BackupManifest) throws {
        let decoder = JSONDecoder()
        for path in paths {
            var hasRow = false
            let noExport = StoreError(
                .invalidValue, "the export of the audit trail has a line that is no row: \(path)",
                hint: "name a file that `vaultctl audit export --jsonl` has written")
            try EvidenceFile(path).forEachLine { line throws(StoreError) in
                guard !line.isEmpty else { return true }
                guard let row = try? decoder.decode(Row.self, from: Data(line.utf8)) else { throw noExport }
                guard let sequence = row.sequence else { return true }
                hasRow = true
                lastRow = max(lastRow ?? 0, sequence)
                if sequence > backup.vaultSequence, row.kind == AuditKind.renewalStarted.name, let login = row.login {
                    moved.insert(login)
                }
                return true
            }
            guard hasRow else { throw noExport }
        }
    }
}
