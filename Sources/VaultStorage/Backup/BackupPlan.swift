package import VaultCrypto

/// A completed step of a backup or a restore. Wherever the work stops, the target's name holds either the whole file or
/// nothing.
package enum BackupStep: String, CaseIterable, Sendable {
    /// The file exists, but does not have its name yet.
    case reserved
    case copied
    /// The copy is a vault that opens. In a restore, it has also entered a new incarnation.
    case changed
    /// All bytes are written.
    case sealed
    /// The vault knows of the backup. A restore has no such step.
    case noted
    case named
}

/// The options of a backup.
package struct BackupPlan: Sendable {
    /// A directory, in which the backup gets a generated name, or the path of a file that does not exist yet.
    package var target: String
    /// Whether the backup may be on the same device as the vault.
    package var allowsSameDevice: Bool
    /// The only recipients that can open the backup. If empty, the vault's keys open it.
    package var recipients: [Recipient] = []
    /// The version recorded in the manifest.
    package var toolVersion: String
    /// The number of users, picked at random, whose logins are opened in the copy before it counts as a backup.
    package var sampledUsers = 16

    /// Called after each step.
    package var onStep: @Sendable (BackupStep) -> Void = { _ in }

    package init(target: String, allowsSameDevice: Bool, toolVersion: String) {
        self.target = target
        self.allowsSameDevice = allowsSameDevice
        self.toolVersion = toolVersion
    }

    /// `app.vault-20261122T225334.012Z-1234.tvbackup`: sorting by name sorts by time, to the millisecond.
    package static func name(ofVault vault: String, at time: Timestamp, head: Int64) -> String {
        "\(vault)-\(CivilTime(time).text())-\(head)\(suffix)"
    }

    package static let suffix = ".tvbackup"
}

/// A time in UTC, by the Gregorian calendar.
private struct CivilTime {
    private let days: Int64
    private let seconds: Int64
    private let milliseconds: Int64

    init(_ time: Timestamp) {
        let all = time.milliseconds.quotientAndRemainder(dividingBy: 1_000)
        let whole = all.remainder < 0 ? all.quotient - 1 : all.quotient
        milliseconds = all.remainder < 0 ? all.remainder + 1_000 : all.remainder
        let rest = ((whole % 86_400) + 86_400) % 86_400
        seconds = rest
        days = (whole - rest) / 86_400
    }

    /// ISO 8601 in its basic format. The date is counted from 1 March of the year 0, so that leap days come last.
    func text() -> String {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let date = Self.digits(year, 4) + Self.digits(month, 2) + Self.digits(day, 2)
        let time = [seconds / 3_600, seconds / 60 % 60, seconds % 60].map { Self.digits($0, 2) }.joined()
        return "\(date)T\(time).\(Self.digits(milliseconds, 3))Z"
    }

    private static func digits(_ number: Int64, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}

extension StoreError {
    package static var hasNoFile: StoreError {
        StoreError(.invalidValue, "this vault has no file that could be copied", hint: "use a vault in a file")
    }
}
