import Platform

/// The companion files of a vault whose own file is gone.
///
/// The log and the spool may hold the only copies of the vault's newest refresh tokens: they are moved away, and never
/// removed.
package struct VaultRemains: Sendable {
    private static let logs = ["-wal", "-journal", "-shm"]

    private let vault: String
    private let paths: [String]
    private let mayHoldTokens: Bool

    /// Nil if the vault's file is there, or nothing is left of it.
    package init?(of vault: String) {
        guard FileIdentity(path: vault) == nil else { return nil }
        self.vault = vault
        paths = Self.existing((Self.logs + [".lock", ".spool"]).map { vault + $0 })
        guard !paths.isEmpty else { return nil }
        mayHoldTokens = ["-wal", "-journal", ".spool"].contains { suffix in
            ((try? FileStatus(at: vault + suffix))?.size ?? 0) > 0
        }
    }

    /// A sentence that names the files.
    package var words: String {
        let names = paths.map { PathName.shown(PathName.lastPart(of: $0)) }
        let listed = names.dropLast().joined(separator: ", ") + (names.count > 1 ? " and " : "") + (names.last ?? "")
        return "a vault was here: \(listed) \(names.count == 1 ? "is" : "are") left"
            + (mayHoldTokens ? ", and may hold its newest tokens" : "")
    }

    package var hints: [String] {
        [
            "find the vault's file and put it back; if it is lost, restore a backup: "
                + "vaultctl backup restore BACKUP \(Self.quoted(vault))",
            "to begin with an empty vault, move what is left of this one away: \(Self.moving(paths, of: vault))",
        ]
    }

    /// The hint for a backup that is restored in the vault's place. The spool stays: the next process takes its replies.
    package var hintForRestore: String {
        "keep the log, and move it away; then run this again: "
            + Self.moving(Self.existing(Self.logs.map { vault + $0 }), of: vault)
    }

    /// The command that moves away all that is there of a vault.
    package static func movingAll(of vault: String) -> String {
        moving(existing(([""] + logs + [".lock", ".spool"]).map { vault + $0 }), of: vault)
    }

    /// It moves into a new directory, so it overwrites nothing.
    private static func moving(_ paths: [String], of vault: String) -> String {
        var (directory, number) = (vault + ".before", 1)
        while FileIdentity(path: directory) != nil {
            number += 1
            directory = "\(vault).before-\(number)"
        }
        let target = quoted(directory)
        return "mkdir -m 700 \(target) && mv \(paths.map(quoted).joined(separator: " ")) \(target)"
    }

    private static func existing(_ paths: [String]) -> [String] { paths.filter { FileIdentity(path: $0) != nil } }

    /// For a shell.
    private static func quoted(_ path: String) -> String { "'\(path.replacing("'", with: #"'\''"#))'" }
}
