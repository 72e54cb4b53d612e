import Synchronization
import TokenVault
import VaultAdministration

/// The changes that this run has made, as the audit log has them. If the result cannot be printed, the error names them:
/// otherwise it reads as if nothing had been done.
final class MadeChanges: Sendable {
    private let rows = Mutex<[AuditRecord]>([])

    /// More are not named.
    private static let most = 3

    /// Takes the rows that this command has written.
    ///
    /// - Parameters:
    ///   - head: the last row before it; nil if it is unknown.
    ///   - actor: nil for a service, which reports its work otherwise.
    func take(after head: Int64?, from vault: Vault, by actor: VaultOptions.Actor?) async {
        guard let head, let actor, let end = try? await vault.auditHead(), end > head,
            let page = try? await vault.auditRecords(before: end + 1, limit: Self.most * 4)
        else { return }
        let made = page.records.reversed().filter {
            $0.sequence > head && $0.actor == actor && !Self.isReading($0.kind)
        }
        rows.withLock { $0 += made }
    }

    /// Nil if nothing was changed.
    var hint: String? {
        let rows = rows.withLock { $0 }
        guard !rows.isEmpty else { return nil }
        let words = rows.prefix(Self.most).map(Self.words) + (rows.count > Self.most ? ["and more"] : [])
        return "these changes were made: \(words.joined(separator: ", ")); see: vaultctl audit list"
    }

    /// Whether the row records that something was looked at.
    private static func isReading(_ kind: String) -> Bool { kind.hasSuffix("Revealed") || kind == "usersResolved" }

    private static func words(_ row: AuditRecord) -> String {
        let subject = row.login?.description ?? row.provider ?? row.details.first { $0.name == "slot" }?.value
        return Field.label(of: row.kind) + (subject.map { " (\(Printable.shortened($0)))" } ?? "")
    }
}
