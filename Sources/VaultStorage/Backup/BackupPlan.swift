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
        "\(vault)-\(time.basicText)-\(head)\(suffix)"
    }

    package static let suffix = ".tvbackup"
}

extension StoreError {
    package static var hasNoFile: StoreError {
        StoreError(.invalidValue, "this vault has no file that could be copied", hint: "use a vault in a file")
    }
}
