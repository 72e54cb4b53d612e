import Logging
import Platform
import ServiceLifecycle
import VaultCrypto
import VaultSQLite
import VaultStorage

/// Makes a backup now and then, and removes those that need not be kept.
///
/// Whether one is due is what the vault remembers: a restart makes none before its time, and several processes need not
/// know of each other.
package final class BackupScheduler: Service {
    private let vault: Vault
    private let options: BackupSchedule
    private let routine: Routine
    /// The time from a failure to the next attempt.
    private static let pauseAfterFailure = Duration.seconds(300)

    package init(_ vault: Vault, options: BackupSchedule) {
        self.vault = vault
        self.options = options
        routine = Routine(vault)
    }

    /// Works until the service group shuts down, the task is cancelled or the vault is closed.
    package func run() async throws {
        try await routine.run(timeToNext: timeToNext) {
            _ = try await self.makeOne()
            return self.options.interval
        } failed: { error in
            self.vault.logger.warning("a backup failed", metadata: ["reason": "\(type(of: error))"])
            self.options.onEvent?(.failed(error))
            return min(self.options.interval, Self.pauseAfterFailure)
        }
    }

    /// Makes a backup if one is due, and returns.
    /// - Throws: why there is none although one is due.
    @discardableResult
    package func runOnce() async throws -> Backup? {
        guard try await timeToNext() <= .zero else { return nil }
        return try await makeOne()
    }

    @Sendable private func timeToNext() async throws -> Duration {
        let last = try await vault.backups().compactMap(\.backup).filter(\.isFinished).map(\.madeAt).max()
        return routine.time(until: options.interval, after: last.map { Timestamp($0) })
    }

    private func makeOne() async throws -> Backup {
        let backup = try await vault.backUp(
            to: options.directory, for: options.recipients, allowsSameDevice: options.allowsSameDevice)
        options.onEvent?(.made(backup))
        try await prune()
        return backup
    }

    /// Only backups of this directory, which this vault remembers, and whose files still say that they are they.
    private func prune() async throws {
        guard let keep = options.keep else { return }
        let directory = Self.resolved(options.directory)
        let here = try await vault.backups().compactMap(\.backup).filter { backup in
            backup.isFinished && PathName.directory(of: backup.path) == directory
        }
        for backup in keep.expired(here) {
            if let file = try? BackupFile(at: backup.path) {
                guard file.manifest.backup == backup.id.handle, (try? NamedFile(backup.path).remove()) != nil else {
                    continue
                }
            }
            try await vault.forgetBackup(backup.id)
            options.onEvent?(.removed(backup))
        }
    }

    private static func resolved(_ path: String) -> String {
        NamedFile(path).resolved ?? path
    }
}

/// When a ``VaultService`` makes backups, and which it keeps.
public struct BackupSchedule: Sendable {
    package enum Event: Sendable {
        case made(Backup)
        case removed(Backup)
        /// The next try comes within minutes.
        case failed(any Error)
    }

    package var interval: Duration
    package var directory: String
    /// Nil: nothing is removed.
    package var keep: BackupRetention?
    /// See ``init(every:directory:keep:for:allowsSameDevice:onFailure:)``.
    package var recipients: [String]
    /// The same.
    package var allowsSameDevice: Bool
    /// It must return soon.
    package var onEvent: (@Sendable (Event) -> Void)?

    /// - Parameters:
    ///   - interval: At least a minute.
    ///   - directory: An absolute path, on another file system than the vault's.
    ///   - keep: Which backups are kept; nil: all.
    ///   - recipients: Recipients of age. Only they can open the backups; empty: the keys of the vault.
    ///   - allowsSameDevice: Whether the directory may be on the vault's own file system.
    ///   - onFailure: Called when a backup failed. It must return soon. The next try comes within minutes.
    public init(
        every interval: Duration, directory: String, keep: BackupRetention? = nil, for recipients: [String] = [],
        allowsSameDevice: Bool = false, onFailure: (@Sendable (any Error) -> Void)? = nil
    ) {
        self.init(
            every: interval, directory: directory, keep: keep, for: recipients, allowsSameDevice: allowsSameDevice,
            onEvent: { if case .failed(let error) = $0 { onFailure?(error) } })
    }

    package init(
        every interval: Duration, directory: String, keep: BackupRetention? = nil, for recipients: [String] = [],
        allowsSameDevice: Bool = false, onEvent: (@Sendable (Event) -> Void)?
    ) {
        self.interval = max(.seconds(60), interval)
        self.directory = directory
        self.keep = keep
        self.recipients = recipients
        self.allowsSameDevice = allowsSameDevice
        self.onEvent = onEvent
    }
}
