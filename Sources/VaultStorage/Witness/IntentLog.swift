import Glibc
import Synchronization
import VaultCrypto

/// A renewal whose refresh token is about to be sent.
package struct OpenedIntent: Hashable, Sendable {
    /// The last audit row of its transaction.
    package let sequence: Int64
    package let login: LoginHandle
    /// Of the refresh token.
    package let generation: Int64
}

/// A file apart from the vault that names each login before its refresh token is sent: a line `sequence login
/// generation`. A rotation cannot happen without an intent, so after a loss it tells which logins may have moved on since
/// a backup was made.
package final class IntentLog: Sendable {
    package let path: String
    /// Since when lines are missing, because the file could not be written.
    private let missing = Mutex<Int64?>(nil)

    package init(_ path: String) { self.path = path }

    /// Durable when it returns. What could not be written is told by a line `gap sequence` as soon as that can be written.
    package func append(_ intents: [OpenedIntent]) throws(StoreError) {
        guard let first = intents.first else { return }
        do throws(StoreError) {
            try missing.withLock { missing throws(StoreError) in
                var text = missing.map { "gap \($0)\n" } ?? ""
                for intent in intents { text += "\(intent.sequence) \(intent.login.text) \(intent.generation)\n" }
                try write(Array(text.utf8))
                missing = nil
            }
        } catch {
            missing.withLock { $0 = $0 ?? first.sequence }
            throw error
        }
    }

    /// One write call for all lines, at the end of the file whoever writes beside us.
    private func write(_ bytes: [UInt8]) throws(StoreError) {
        let descriptor = unsafe open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure(errno) }
        defer { close(descriptor) }
        try PrivateFile.check(descriptor: descriptor, path)
        let isNew = lseek(descriptor, 0, SEEK_END) == 0
        let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard count == bytes.count, fdatasync(descriptor) == 0 else { throw failure(count < 0 ? errno : ENOSPC) }
        if isNew { try PrivateFile.synchronizeDirectory(WitnessFile(path).directory) }
    }

    private func failure(_ error: Int32) -> StoreError {
        StoreError(
            .io(error), "the witness log cannot be written: \(path) (system error \(error))",
            hint: "check its directory, owner, mode and free space; the vault itself is unharmed")
    }
}
