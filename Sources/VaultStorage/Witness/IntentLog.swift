import Platform
import Synchronization
import VaultCrypto

/// A renewal whose refresh token is about to be sent.
package struct OpenedIntent: Hashable, Sendable {
    /// The last audit row of the intent's transaction.
    package let sequence: Int64
    package let login: LoginHandle
    /// The generation of the refresh token.
    package let generation: Int64
}

/// A file apart from the vault that names each login before its refresh token is sent: a line `sequence login
/// generation`. A rotation cannot happen without an intent. So after a loss the file shows which logins may have
/// changed since a backup, if all processes have used the same file since then. Lines `begin sequence incarnation
/// vault` mark the row from which a file is complete: one when a process opens the vault, and one at the head of a new
/// file.
package final class IntentLog: Sendable {
    package let path: String
    /// The row since which lines are missing, because the file could not be written.
    private let missing = Mutex<Int64?>(nil)

    package init(_ path: String) { self.path = path }

    /// Appends lines, which are durable when it returns. If lines could not be written, a line `gap sequence` records
    /// that as soon as possible.
    package func append(_ intents: [OpenedIntent], _ context: VaultContext) throws(StoreError) {
        guard let first = intents.first else { return }
        do throws(StoreError) {
            try missing.withLock { missing throws(StoreError) in
                // The failed write may have left a part of a line.
                var text = missing.map { "\n\(Word.gap) \($0)\n" } ?? ""
                for intent in intents { text += "\(intent.sequence) \(intent.login.text) \(intent.generation)\n" }
                try write(text, beginningWith: Self.beginning(after: first.sequence - 1, context))
                missing = nil
            }
        } catch {
            missing.withLock { $0 = $0 ?? first.sequence }
            throw error
        }
    }

    /// States that the log contains each later intent of this process.
    package func begin(after sequence: Int64, _ context: VaultContext) throws(StoreError) {
        try write(Self.beginning(after: sequence, context), beginningWith: "")
    }

    enum Word {
        static let begin = "begin"
        static let gap = "gap"
    }

    private static func beginning(after sequence: Int64, _ context: VaultContext) -> String {
        "\(Word.begin) \(sequence) \(context.incarnation) \(Base32.encode(context.vaultID))\n"
    }

    /// Writes all lines in one call, at the end of the file, where other processes write too.
    ///
    /// - Parameter head: The first line of a new file.
    private func write(_ text: String, beginningWith head: String) throws(StoreError) {
        try PrivateFile.checkWay(to: path, of: "the witness log")
        let file: Descriptor
        do throws(SystemError) {
            file = try Descriptor(path, for: .readingAndWriting, [.appending, .create, .notThroughLink])
        } catch {
            throw failure(error)
        }
        try PrivateFile.check(file, path, of: "the witness log")
        let isNew = (try? file.endOffset()) == 0
        guard isNew || Self.beginsLikeOne(file) else {
            throw StoreError(
                .invalidValue, "\(path) is not a witness log, and was left unchanged",
                hint: "name a file of its own, apart from the vault")
        }
        let bytes = Array(((isNew ? head : "") + text).utf8)
        do throws(SystemError) {
            guard try file.write(bytes) == bytes.count else { throw .noSpace }
            try file.synchronizeData()
        } catch {
            throw failure(error)
        }
        if isNew { try PrivateFile.synchronizeDirectory(WitnessFile(path).directory) }
    }

    /// Without this check, a mistyped path to a key or a vault would destroy it with one more line.
    private static func beginsLikeOne(_ file: Descriptor) -> Bool {
        guard let start = try? file.read(atMost: Word.begin.utf8.count + 1, at: 0) else { return false }
        // A full disk may have truncated the first line.
        return !start.isEmpty && "\(Word.begin) ".utf8.starts(with: start)
    }

    private func failure(_ error: SystemError) -> StoreError {
        StoreError(
            .io(error), "the witness log \(path) cannot be written: \(error.text)",
            hint: "check its directory, owner, mode and free space; the vault itself is unharmed")
    }
}
