import FoundationEssentials
import TokenVault
import VaultAdministration

/// How backups are displayed.
enum BackupRecords {
    static func record(_ backup: Backup) -> OutputRecord {
        [
            Field("backup", backup.id.description).column("BACKUP"), Field("path", backup.path).column("PATH"),
            Field("madeAt", backup.madeAt).column("MADE"), Field("bytes", Int(clamping: backup.byteCount)),
            Field("auditSequence", Int(clamping: backup.auditSequence)),
            .data("recipients", backup.recipients), .data("isFinished", backup.isFinished),
        ]
    }

    static func record(_ entry: BackupEntry) -> OutputRecord {
        switch entry {
        case .backup(let backup):
            let state = state(of: backup)
            return record(backup) + [Field("state", state.code).column("STATE", state.words, inPipe: state.code)]
        case .damaged(let id, let problem):
            return [
                Field("backup", id?.description).column("BACKUP", id?.description ?? "(unreadable)"),
                Field("damaged", problem).column("PATH", "damaged: \(problem)"),
            ]
        }
    }

    /// Whether the file is still where it was made.
    static func state(of backup: Backup) -> (code: String, words: String) {
        if let facts = try? Vault.backup(at: backup.path) {
            return facts.id == backup.id ? ("here", "here") : ("replaced", "another file is there")
        }
        return backup.isFinished ? ("moved", "moved or removed") : ("unfinished", "never finished")
    }

    static func record(_ facts: BackupView) -> OutputRecord {
        [
            Field("backup", facts.id.description), Field("path", facts.path), Field("vaultId", facts.vaultID),
            Field("madeAt", facts.madeAt), Field("schemaVersion", facts.schemaVersion),
            Field("incarnation", Int(clamping: facts.incarnation)),
            Field("auditSequence", Int(clamping: facts.auditSequence)), Field("bytes", Int(clamping: facts.byteCount)),
            Field("users", facts.users), Field("logins", facts.logins), Field("providers", facts.providers),
            Field("keySlots", facts.keySlots).words(facts.keySlots.joined(separator: ", ")),
            Field("recipients", facts.recipients)
                .words(facts.recipients.isEmpty ? nil : facts.recipients.joined(separator: ", ")),
            Field("toolVersion", facts.toolVersion).label("made by"),
        ]
    }

    static func record(_ logins: HeldLogins) -> OutputRecord {
        [
            Field("provider", logins.provider).column("PROVIDER", logins.provider ?? "(app)", inPipe: logins.provider),
            Field("logins", logins.logins).column("LOGINS"), Field("held", logins.held).column("HELD"),
            Field("risk", logins.risk.rawValue).column(
                "AN OLD REFRESH TOKEN", words(logins.risk), inPipe: logins.risk.rawValue),
        ]
    }

    static func record(_ knowledge: RestoreKnowledge, since backup: BackupView) -> OutputRecord {
        let lost = knowledge.lastSeenRow.map { max(0, $0 - backup.auditSequence) }
        return [
            Field("evidence", knowledge.source.rawValue).words(words(knowledge)),
            .data("movedLogins", knowledge.movedLogins), .data("doubt", knowledge.doubt),
            Field("lostRows", lost.map { Int(clamping: $0) }).label("lost").words(
                lost.map { "\(Count.of(Int(clamping: $0), "row")) of the audit trail at least" }),
        ]
    }

    private static func words(_ knowledge: RestoreKnowledge) -> String {
        let moved = Count.of(knowledge.movedLogins, "login")
        switch knowledge.source {
        case .none: return "none: every login is held"
        case .auditExport:
            return "audit export up to row \(knowledge.lastSeenRow ?? 0): \(moved) known to have moved on; "
                + "what came later is not known, so every login is held"
        case .witnessLog:
            guard let doubt = knowledge.doubt else {
                return "witness log: \(moved) may have moved on; no other, if every process has written the log"
            }
            return "witness log: \(doubt), so every login is held; \(moved) known to have moved on"
        }
    }

    static let heldHeadings = ["PROVIDER", "LOGINS", "HELD", "AN OLD REFRESH TOKEN"]

    static func words(_ risk: HeldLogins.Risk) -> String {
        switch risk {
        case .none: "is as good as the last one: safe to accept"
        case .refused: "is refused, and nothing else happens"
        case .ended: "may end the login: try a few first"
        case .allLoginsOfUser: "may end all logins of its user: ask users to log in again"
        case .app: "does not exist: the app is asked"
        }
    }
}
