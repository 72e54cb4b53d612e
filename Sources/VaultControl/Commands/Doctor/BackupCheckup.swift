import FoundationEssentials
import TokenVault
import VaultAdministration

/// The age of the last backup, relative to the usual interval, and whether a backup was left unfinished.
enum BackupCheckup {
    static func findings(_ vault: Vault, now: Date) async -> [DoctorFinding] {
        await DoctorFinding.findings(of: .backup) {
            let isOnServer = try await vault.server() != nil
            return isOnServer ? [byServer] : findings(of: try await vault.backups(), now: now)
        }
    }

    /// This machine cannot see whether the database is backed up.
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
        if let failed = unfinished(entries, since: times.last, now: now) { findings.append(failed) }
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

    /// The last one that was begun and never finished, if none has succeeded since.
    private static func unfinished(_ entries: [BackupEntry], since last: Date?, now: Date) -> DoctorFinding? {
        let begun = entries.compactMap(\.backup).filter { !$0.isFinished }.map(\.madeAt).max()
        // A large vault takes a while.
        guard let begun, begun > last ?? .distantPast, now.timeIntervalSince(begun) > 3_600 else { return nil }
        return DoctorFinding(
            .problem, .backup, "the one that was begun \(Instant.relative(begun, now: now)) was not finished",
            hint: "see why, by making one: vaultctl backup create DIRECTORY")
    }

    /// The median of the last eight intervals; nil if there are too few.
    private static func usualInterval(_ times: [Date]) -> Double? {
        let last = times.suffix(9)
        guard last.count >= 3 else { return nil }
        let gaps = zip(last.dropFirst(), last).map { $0.timeIntervalSince($1) }.sorted()
        // Several manual backups in quick succession are not a schedule.
        return max(gaps[gaps.count / 2], 600)
    }
}
