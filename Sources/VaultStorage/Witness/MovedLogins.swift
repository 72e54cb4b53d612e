import VaultCrypto

/// The logins that may have spent the refresh tokens in a backup, according to witness logs.
package struct MovedLogins: Sendable, Equatable {
    package private(set) var logins: Set<LoginHandle> = []
    /// The reason why other logins may have moved too; nil if the list is complete.
    package private(set) var doubt: String?

    private let since: Int64
    private let incarnation: Int64
    private let vault: String
    private var isCovered = false
    /// Whether the previous line says that lines are missing up to this one.
    private var isBehindGap = false

    /// - Parameter paths: All logs since the backup was made, in any order.
    package init(_ paths: [String], since backup: BackupManifest) throws(StoreError) {
        (since, incarnation, vault) = (backup.vaultSequence, backup.incarnation, Base32.encode(backup.vault))
        for path in paths {
            var (readable, unreadable) = (0, 0)
            try EvidenceFile(path).forEachLine { line throws(StoreError) in
                if line.isEmpty { return true }
                if try take(line, of: path) { readable += 1 } else { unreadable += 1 }
                return true
            }
            // A line that cannot be read is damage. A file with only such lines is a different kind of file.
            guard readable > 0 || unreadable == 0 else {
                throw StoreError(
                    .invalidValue, "the evidence is neither a witness log nor an export of the audit trail: \(path)",
                    hint: "name a witness log, or what `vaultctl audit export --jsonl` has written; without evidence, "
                        + "all logins are held")
            }
            endFile(path)
        }
        if !isCovered, doubt == nil {
            doubt = "the log does not say that it was written since the backup was made"
        }
    }

    /// Whether the line could be read.
    private mutating func take(_ line: Substring, of path: String) throws(StoreError) -> Bool {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        switch (words.first, words.count) {
        case (Substring(IntentLog.Word.begin), 4):
            guard let sequence = Int64(words[1]), let number = Int64(words[2]) else { return damaged(path) }
            guard words[3] == vault else {
                throw StoreError(
                    .invalidValue, "the witness log belongs to another vault: \(path)",
                    hint: "name the log of the vault that the backup was made of")
            }
            if number == incarnation, sequence <= since { isCovered = true }
        case (Substring(IntentLog.Word.gap), 2):
            guard Int64(words[1]) != nil else { return damaged(path) }
            isBehindGap = true
        default:
            guard words.count == 3, let sequence = Int64(words[0]), let login = LoginHandle(text: String(words[1])),
                Int64(words[2]) != nil
            else { return damaged(path) }
            if sequence > since { logins.insert(login) }
            if isBehindGap, sequence > since { doubt = "lines of the log could not be written at the time: \(path)" }
            isBehindGap = false
        }
        return true
    }

    private mutating func endFile(_ path: String) {
        if isBehindGap { doubt = "lines of the log could not be written at the time: \(path)" }
        isBehindGap = false
    }

    private mutating func damaged(_ path: String) -> Bool {
        doubt = "the log has a line that cannot be read: \(path)"
        return false
    }
}
