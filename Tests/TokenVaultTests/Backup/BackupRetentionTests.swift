import Foundation
import Testing
import VaultStorage

@testable import TokenVault

@Suite struct BackupRetentionTests {
    private static func backup(_ seconds: Int) -> Backup {
        Backup(
            id: BackupID(.random()), madeAt: Date(timeIntervalSince1970: Double(seconds)), path: "/b/\(seconds)",
            byteCount: 1, auditSequence: 1, recipients: [], isFinished: true)
    }

    @Test(arguments: [
        ("24h,7d,5w,12mo", BackupRetention(hours: 24, days: 7, weeks: 5, months: 12)),
        ("1d", BackupRetention(days: 1)), ("3mo,2h", BackupRetention(hours: 2, months: 3)),
    ]) func rulesAreRead(_ text: String, _ rule: BackupRetention) {
        #expect(BackupRetention(text) == rule)
        #expect(BackupRetention(rule.description) == rule)
    }

    @Test(arguments: ["", "7", "d", "0d", "-1d", "7x", "7d,", "7d,8d", "7 d", "99999h", "12m", "1y", "٧d"])
    func whatIsNoRuleIsRefused(_ text: String) {
        #expect(BackupRetention(text) == nil)
    }

    /// A year of backups, four a day.
    @Test func ofEachSpanTheLastBackupStays() {
        let start = 1_767_225_600
        let backups = (0..<(365 * 4)).map { Self.backup(start + $0 * 21_600) }
        let expired = Set(BackupRetention(hours: 3, days: 7, weeks: 5, months: 12).expired(backups).map(\.id))
        let kept = backups.filter { !expired.contains($0.id) }
        let last = backups[backups.count - 1]
        #expect(kept.contains(last))
        // The last of each of seven days, the same of weeks and months, less those that are one.
        let ofDays = backups.suffix(28).enumerated().filter { $0.offset % 4 == 3 }.map(\.element)
        #expect(ofDays.allSatisfy { kept.contains($0) })
        #expect(kept.filter { $0.madeAt > last.madeAt.addingTimeInterval(-43_201) }.count == 3)
        // Each month of the year has one.
        let calendar = Calendar(identifier: .gregorian)
        var utc = calendar
        utc.timeZone = .gmt
        #expect(Set(kept.map { utc.component(.month, from: $0.madeAt) }).count == 12)
        #expect(kept.count < 30)
        // Those that expire are told the oldest first.
        let order = BackupRetention(days: 1).expired(backups).map(\.madeAt)
        #expect(order == order.sorted() && order.count == backups.count - 1)
    }

    @Test func theNewestIsKeptWhateverTheRuleSays() {
        let backups = [Self.backup(0), Self.backup(1)]
        #expect(BackupRetention().expired(backups) == [backups[0]])
        #expect(BackupRetention(days: 3).expired([]) == [])
    }
}
