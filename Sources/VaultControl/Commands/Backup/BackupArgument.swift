import Platform
import TokenVault
import VaultAdministration

/// A backup as an argument names it: by its path, by its id or the id's first letters, or as `latest`.
extension VaultAccess {
    static let backupHelp = "The backup: its path, its id or the beginning of it, or latest."

    /// The backup file. Only text that is not a path is looked up in the vault's list.
    func backup(_ text: String) async throws -> NamedPlace {
        let place = NamedPlace(noun: "backup", path: text, origin: "BACKUP")
        guard FileIdentity(path: text) == nil else { return try read(place) }
        let isName = Self.isLatest(text) || (ShortID.normal(text)?.count ?? 0) >= ShortID.least
        guard isName else { throw missing(place, "list all backups: vaultctl backup list") }
        guard (try? path) != nil, namesKey || invocation.console.inputIsTerminal else {
            throw missing(place, "to find a backup by its id, name the vault and its key: --vault PATH --key-file PATH")
        }
        try requireList(for: text)
        let found = try await listed(text)
        guard FileIdentity(path: found.path) != nil else {
            throw Failure(
                .unknownBackup, "backup \(found.id) is no longer at \(Printable.path(found.path))",
                hints: ["if it was moved, name its path"])
        }
        return try read(NamedPlace(noun: "backup", path: found.path, origin: "\(found.id)", isListed: true))
    }

    /// The backup in the vault's list.
    private func listed(_ text: String) async throws -> Backup {
        do {
            return try await open { try Self.find(text, in: try await $0.backups()) }
        } catch var failure as Failure {
            if failure.message.hasPrefix("no backup's id") { failure.message += ", and there is no such file" }
            // The key is perhaps the backup's.
            if failure.code == VaultError.Code.wrongKey.name {
                failure.hints.insert(
                    "\(Printable.named(text)) is looked up in the vault, which this key has to open; with a backup's own key, "
                        + "name the backup by its path", at: 0)
            }
            throw failure
        }
    }

    /// The list of backups is in the vault, and may be lost with it.
    private func requireList(for text: String) throws {
        do { try requireFile() } catch let failure as Failure where failure.code == VaultError.Code.vaultMissing.name {
            throw Failure(
                .vaultMissing,
                "\(Printable.named(text)) is looked up in the vault's list of backups, and \(failure.message)",
                hints: ["name the backup's file; a lost vault is restored by: vaultctl backup restore FILE TARGET"])
        }
    }

    private static func isLatest(_ text: String) -> Bool {
        ["latest", "newest", "last"].contains(ShortID.normal(text))
    }

    /// Adds the backup's recipients.
    private func read(_ place: NamedPlace) throws -> NamedPlace {
        var place = place
        if let problem = PathProblem("backup", at: place.path, from: place.origin, advice: "check \(place.origin)") {
            throw Failure(.machine, code: "storageFailed", problem.message, hints: problem.hints)
        }
        // Also with a trailing slash.
        guard FileKind(place.path) != .directory else {
            let names = (try? InputDirectory.names(in: place.path, place.origin, hint: "")) ?? []
            let latest = names.filter { $0.hasSuffix(".tvbackup") }.max()
            let front = place.path.hasSuffix("/") ? place.path : place.path + "/"
            throw Failure.otherFile(
                place.noun, "\(place.words) is a directory, not a backup",
                hints: [latest.map { "name a file in it: \(Printable.path(front + $0))" } ?? "check \(place.origin)"])
        }
        place.recipients = (try? Vault.backup(at: place.path).recipients) ?? []
        return place
    }

    private func missing(_ place: NamedPlace, _ advice: String) -> Failure {
        let problem = PathProblem(
            "backup", at: place.path, from: place.origin, advice: advice, home: environment("HOME"))
        return Failure(
            .unknownBackup, problem?.message ?? "there is no backup at \(place.words)",
            hints: problem?.hints ?? [advice])
    }

    /// A backup in the vault's list; its file may have been moved.
    static func find(_ text: String, in entries: [BackupEntry]) throws -> Backup {
        let known = entries.compactMap(\.backup)
        if isLatest(text) {
            guard let latest = known.filter(\.isFinished).max(by: { $0.madeAt < $1.madeAt }) else {
                throw Failure(
                    .unknownBackup, "no backup was made of this vault yet",
                    hints: [
                        "make one: vaultctl backup create DIRECTORY",
                        "to restore a backup of another vault, name its file: vaultctl backup restore FILE TARGET",
                    ])
            }
            return latest
        }
        if let named = known.first(where: { $0.path == text || $0.path == absolute(text) }) { return named }
        if FileKind(text) == .backup || text.contains("/") || text.hasSuffix(".tvbackup") {
            throw Failure(
                .unknownBackup, "the vault remembers no backup at \(Printable.path(text))",
                hints: ["a copy has another path: list all backups: vaultctl backup list"])
        }
        return try ShortID.find(
            text, among: known, noun: "backup", list: "vaultctl backup list", missing: .unknownBackup,
            id: { $0.id.description })
    }

    /// The directory may exist although the file does not.
    private static func absolute(_ path: String) -> String {
        guard let directory = NamedFile(PathName.directory(of: path)).resolved else { return path }
        let name = path.split(separator: "/").last ?? ""
        return directory + "/" + name
    }
}
