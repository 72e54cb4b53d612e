import FoundationEssentials
import TokenVault

/// When the last backup was made, measured by how often they usually are, and whether a restore is waiting.
struct BackupCheckup {
    private let vault: Vault
    private let invocation: Invocation

    init(_ vault: Vault, _ invocation: Invocation) {
        self.vault = vault
        self.invocation = invocation
    }

    func findings() async -> [DoctorFinding] {
        do {
            let isOnServer = try await vault.server() != nil
            let backups =
                isOnServer ? [Self.byServer] : Self.findings(of: try await vault.backups(), now: invocation.now)
            return backups + held(try await vault.heldLogins(), isOnServer: isOnServer)
        } catch {
            let failure = Failure(error)
            return [.unseen(.backup, failure.message, level: .problem, hint: failure.hints.first)]
        }
    }

    /// Whether the database is backed up cannot be seen from here.
    private static let byServer = DoctorFinding(
        .note, .backup, "the vault is backed up with its database, which cannot be seen from here",
        hint: "see that the database has backups, and that one can be restored: docs/postgresql.md")

    static func findings(of entries: [BackupEntry], now: Date) -> [DoctorFinding] {
        let damaged = entries.count - entries.compactMap(\.backup).count
        let times = entries.compactMap(\.backup).filter(\.isFinished).map(\.madeAt).sorted()
        var findings: [DoctorFinding] = []
        if damaged > 0 {
            findings.append(
                DoctorFinding(
                    .problem, .backup, "\(Count.of(damaged, "row")) of the list of backups was changed",
                    hint: "list them: vaultctl backup list"))
        }
        guard let last = times.last else {
            return findings + [
                DoctorFinding(
                    .note, .backup, "none was made with vaultctl, or all are forgotten",
                    hint: "make one: vaultctl backup create DIRECTORY")
            ]
        }
        let age = max(0, now.timeIntervalSince(last))
        let words = "the last one was made \(Instant.relative(last, now: now))"
        let hint = "make one: vaultctl backup create DIRECTORY; and see why maintain makes none"
        if let usual = usualInterval(times), age > 3 * usual {
            findings.append(
                DoctorFinding(
                    .problem, .backup, "\(words), and usually there is one every \(Instant.duration(usual))", hint: hint
                ))
        } else if age > 30 * 86_400 {
            findings.append(DoctorFinding(.warning, .backup, words, hint: hint))
        } else {
            findings.append(DoctorFinding(.ok, .backup, words))
        }
        return findings
    }

    /// The median of the last eight intervals; nil if there are too few to tell.
    private static func usualInterval(_ times: [Date]) -> Double? {
        let last = times.suffix(9)
        guard last.count >= 3 else { return nil }
        let gaps = zip(last.dropFirst(), last).map { $0.timeIntervalSince($1) }.sorted()
        // Several made by hand, one right after the other, are no schedule.
        return max(gaps[gaps.count / 2], 600)
    }

    private func held(_ logins: [HeldLogins], isOnServer: Bool) -> [DoctorFinding] {
        let count = logins.reduce(0) { $0 + $1.held }
        guard count > 0 else { return [] }
        return [
            DoctorFinding(
                .warning, .backup,
                "\(Count.of(count, "login")) held since a restore\(isOnServer ? " or a failover" : ""):"
                    + " nothing is sent for \(count == 1 ? "it" : "them")",
                hint: "see at what risk they can be accepted: vaultctl restore status")
        ]
    }
}
