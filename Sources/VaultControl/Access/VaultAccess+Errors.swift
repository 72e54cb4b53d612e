import Platform
import TokenVault
import TokenVaultPostgreSQL
import VaultAdministration

/// The vault or backup being opened, as errors name it.
struct NamedPlace {
    /// `vault` or `backup`.
    var noun = "vault"
    let path: String
    /// An option, a variable, a line of the configuration file, or an argument.
    let origin: String
    /// The recipients of a backup that only they can open.
    var recipients: [String] = []
    /// A backup that was found in the vault's list, and not named by its path.
    var isListed = false

    var words: String { "\(Printable.path(path)) (\(origin))" }
}

extension VaultAccess {
    /// The name of a setting's source: its option, or else its variable, or the line of the configuration file that
    /// replaces it.
    func origin(_ option: String, isGiven: Bool, _ variable: String) -> String {
        isGiven ? option : invocation.origins[variable] ?? variable
    }

    var vaultPlace: NamedPlace {
        get throws(Failure) {
            NamedPlace(path: try path, origin: origin("--vault", isGiven: options.vault != nil, "TOKENVAULT_VAULT"))
        }
    }

    /// Runs `body`, and names the opened vault or backup and the key in its errors.
    ///
    /// - Parameter target: where a vault is made from the opened one; nil if none is made.
    func explaining<R>(
        _ place: NamedPlace, _ key: KeyInUse?, or target: NamedPlace? = nil, _ body: () async throws -> R
    ) async throws -> R {
        do {
            return try await body()
        } catch let error as VaultError {
            if let target, error.message.hasPrefix("the vault"),
                [.unsafeFile, .readOnly, .storageFailed].contains(error.code)
            {
                throw named(error, target)
            }
            throw explained(error, place, key) ?? error
        }
    }

    func explaining<R>(_ place: NamedPlace, _ key: KeyInUse?, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as VaultError {
            throw explained(error, place, key) ?? error
        }
    }

    /// The error of an opened vault with the name of its file or its witness; nil if it needs neither.
    func explainedAfterOpening(_ error: VaultError) -> Failure? {
        guard [.storageFull, .rollbackSuspected].contains(error.code), let place = try? vaultPlace else { return nil }
        return explained(error, place, nil)
    }

    /// Nil: the library's error is complete.
    private func explained(_ error: VaultError, _ place: NamedPlace, _ key: KeyInUse?) -> Failure? {
        // With any mode, so before any complaint about the mode.
        if [.notAVault, .notABackup, .unsafeFile].contains(error.code), let key, let file = key.file,
            isSwapped(place, file.path)
        {
            return swapped(place, key, file.path)
        }
        if error.code == .unsafeFile, place.noun == "vault", let kind = FileKind(place.path),
            kind != .vault, kind != .empty, !error.message.contains("symbolic link")
        {
            return notWhatItIs(error, place, key)
        }
        return switch error.code {
        case .wrongKey: key.map { wrongKey(error, place, $0) }
        case .keyMalformed, .keyTruncated, .keyMissing, .keyUnsafe: key.flatMap { unusable(error, place, $0) }
        case .keyUnavailable, .keyServiceBusy:
            key.map { key in
                var failure = Failure(error)
                // A program that printed no reason.
                if failure.message.contains(" ended "), failure.message.last?.isNumber == true {
                    failure.hints.append("to see why, run it by hand, as this user and in /")
                }
                if !failure.message.contains(key.origin) { failure.message += " (\(key.origin))" }
                if let file = key.relativeFile {
                    failure.hints.append("the program runs in /: name \(Printable.path(file)) by its whole path")
                }
                return failure
            }
        case .notAVault, .notABackup: notWhatItIs(error, place, key)
        case .rollbackSuspected: error.hint.flatMap { ofWitness(error, $0) }
        case .unsafeFile, .migrationNeeded, .newerSchema, .vaultUnfinished, .damaged, .readOnly, .storageFailed,
            .storageFull:
            named(error, place)
        case .busy where error.message.hasPrefix("the database server cannot be reached"): named(error, place)
        default: nil
        }
    }

    /// Names the setting that names the witness.
    private func ofWitness(_ error: VaultError, _ hint: String) -> Failure? {
        guard hint.hasPrefix("check --witness") else { return nil }
        let setting =
            options.witness != nil
            ? "--witness" : options.witnessCommand != nil ? "--witness-command" : Self.settings(environment)
        let origin = invocation.origins[setting] ?? setting
        let hint = hint.replacing("check --witness", with: "check \(origin)")
        let disk = ", and that its disk is mounted"
        let isProgram = error.message.contains(": the program ")
        return Failure(
            error.code, error.message, hints: [isProgram ? hint.replacing(disk, with: ": it printed nothing") : hint])
    }

    private static func settings(_ environment: (String) -> String?) -> String {
        environment("TOKENVAULT_WITNESS") != nil ? "TOKENVAULT_WITNESS" : "TOKENVAULT_WITNESS_COMMAND"
    }

    private func wrongKey(_ error: VaultError, _ place: NamedPlace, _ key: KeyInUse) -> Failure {
        if error.message.hasPrefix("one of the keys") {
            return Failure(
                .wrongKey, "\(key.words) opens none of the vault's key slots",
                hints: [missingProgram(of: key) ?? "check \(key.origin)"])
        }
        let front = "this key does not open the vault"
        guard error.message.hasPrefix(front) else {
            return Failure(.wrongKey, "\(key.words): \(error.message)")
        }
        if !place.recipients.isEmpty {
            let recipients = place.recipients.map { Printable.shortened($0, to: 80) }.joined(separator: ", ")
            return Failure(
                .wrongKey, "the backup \(place.words) is sealed for \(recipients), and \(key.words) does not open it",
                hints: [
                    "name the identity of that recipient: --identity PATH"
                        + (place.isListed ? ", and the backup by its path: its id needs the vault's key" : "")
                ])
        }
        let rest = place.noun == "vault" ? error.message.dropFirst(front.count) : ""
        var hints: [String] = []
        if let file = key.file, let kind = FileKind(file.path), let hint = hint(kind, for: key) { hints.append(hint) }
        if case .wrapped = key.key {
            hints.append(
                missingProgram(of: key)
                    ?? "no slot is wrapped by this program; with a key that works, vaultctl key list shows all key slots"
            )
        } else if key.origin.hasSuffix("that is moved") {
            hints.append(
                "name the target's own key: --target-key-file PATH, --target-passphrase-file or --target-identity")
        } else if hints.isEmpty, place.noun == "backup", let date = try? Vault.backup(at: place.path).madeAt {
            hints.append("use a key that opened the vault when the backup was made: \(Instant.words(date, now: nil))")
        } else if hints.isEmpty, case .passphrase = key.key, place.noun == "vault", !rest.hasSuffix("passphrase)") {
            hints.append(
                "the passphrase is wrong, or the vault is another; with a key that works, vaultctl key list shows all key "
                    + "slots")
        } else if hints.isEmpty {
            hints.append(
                "name the key of this \(place.noun), or the vault of this key; with a key that works, vaultctl key list "
                    + "shows all key slots")
        }
        return Failure(.wrongKey, "\(key.words) does not open the \(place.noun) \(place.words)\(rest)", hints: hints)
    }

    private func missingProgram(of key: KeyInUse) -> String? {
        guard case .wrapped(let program) = key.key, let path = program.first, !NamedFile(path).allows(.executing)
        else { return nil }
        return "there is no program \(Printable.path(path)): check \(key.origin)"
    }

    /// A key file whose content does not fit its option.
    private func unusable(_ error: VaultError, _ place: NamedPlace, _ key: KeyInUse) -> Failure? {
        // A descriptor was read to its end, and there is nothing left to inspect.
        if case .credential(let name) = key.key, error.code == .keyMissing { return missingCredential(name, key) }
        guard let file = key.file, !file.path.hasPrefix("/dev/fd/"), !file.path.hasPrefix("/proc/self/fd/") else {
            return Failure(error.code, "\(key.words): \(error.message)", hints: [unusableLine(error, key)])
        }
        if let problem = PathProblem(
            file.noun, at: file.path, from: key.origin,
            advice: "check \(key.origin)"
                + (key.origin.hasPrefix("--also-") ? "" : "; a vault cannot be opened without one of its keys"),
            home: environment("HOME"))
        {
            return Failure(problem.isMissing ? .keyMissing : .keyUnsafe, problem.message, hints: problem.hints)
        }
        // Changing the mode does not help if the file is not a key.
        let found = FileKind(file.path)
        let isOther =
            [.directory, .notAFile, .known("an age recipient")].contains(found)
            || file.noun == "key file" && ![nil, .keyFile, .keyFileWithMark].contains(found)
        guard error.code != .keyUnsafe || isOther else {
            return Failure(error.code, "\(error.message) (\(key.origin))", hints: error.hint.map { [$0] } ?? [])
        }
        let isTheVault = isSameFile(file.path, place.path)
        let kind = isTheVault ? .vault : found ?? .unknown
        guard kind != (file.noun == "key file" ? FileKind.keyFile : .identity) else {
            let hint =
                error.code == .keyTruncated && isForNew(place, key)
                ? Self.newKeyFile
                : error.message.contains("carriage return")
                    ? "\(error.hint ?? ""); the key itself is unharmed: "
                        + "sed -i 's/\\r$//' \(Printable.path(file.path))" : error.hint
            return Failure(
                error.code, error.message.replacing("the \(file.noun)", with: key.words, maxReplacements: 1),
                hints: hint.map { [$0] } ?? [])
        }
        if isSwapped(place, file.path) { return swapped(place, key, file.path) }
        let wanted = file.noun == "key file" ? "a key file" : "an \(file.noun)"
        let what =
            switch kind {
            case .unknown: "is not \(wanted)"
            case .notAFile, .empty: "is \(kind.words), and no \(file.noun)"
            case .keyFileWithMark where FileKind.hasByteOrderMark(file.path): "begins with a byte-order mark (BOM)"
            case .keyFileWithMark: "has something before its line"
            default: "is \(kind.words), not \(wanted)"
            }
        let ofPipe = kind == .notAFile ? error.hint : nil
        return Failure(
            error.code == .keyUnsafe ? .keyMalformed : error.code,
            "\(Printable.path(file.path)) (\(key.origin)) \(what)",
            hints: [ofPipe ?? hint(kind, for: key) ?? (isForNew(place, key) ? Self.newKeyFile : "check \(key.origin)")])
    }

    /// Whether a file that does not exist would be made: for a further key, and for the key of a new vault.
    private func isForNew(_ place: NamedPlace, _ key: KeyInUse) -> Bool {
        guard key.file?.noun == "key file", !key.origin.hasPrefix("--target-") else { return false }
        return key.origin == "--new-key-file"
            || place.noun == "vault" && !VaultLocation.isPostgreSQL(place.path) && !NamedFile(place.path).exists
    }

    private static let newKeyFile = "nothing is overwritten; for a new key, name a path at which there is no file"

    /// systemd makes the files of this directory: nothing was lost, but the unit has no such setting.
    private func missingCredential(_ name: String, _ key: KeyInUse) -> Failure {
        let directory = ProcessEnvironment.value(of: "CREDENTIALS_DIRECTORY") ?? ""
        let names = (try? InputDirectory.names(in: directory, key.origin, hint: ""))?.sorted() ?? []
        let others = names.prefix(8).map { Printable.shortened($0) }.joined(separator: ", ")
        return Failure(
            .keyMissing,
            "there is no credential \(Printable.named(name)) in \(Printable.path(directory)) (\(key.origin))",
            hints: (names.isEmpty ? [] : ["the credentials there are: \(others)"])
                + ["the service's unit needs: LoadCredential=\(Printable.shortened(name)):PATH"])
    }

    /// A line from a program or a variable has no file that could be restored.
    private func unusableLine(_ error: VaultError, _ key: KeyInUse) -> String {
        if error.code == .keyMalformed, case .credential = key.key {
            return "check the file that the credential is made of; its line begins with tokenvault-key-1"
        }
        guard error.code == .keyMalformed || error.code == .keyTruncated else {
            return error.hint ?? "check \(key.origin)"
        }
        return "check \(key.origin): it must give one line of a key file, which begins with tokenvault-key-1"
    }

    /// The option that reads a file of this kind.
    private func hint(_ kind: FileKind, for key: KeyInUse) -> String? {
        let path = key.file.map { Printable.path($0.path) } ?? ""
        let noun = key.file?.noun
        return switch kind {
        case .keyFile where noun != "key file": "this is a key file: use \(target(key))key-file \(path)"
        case .identity where key.origin == "--also-key-file":
            "leave it out: the slots of recipients stay without that"
        case .identity where key.origin == "--proven-by-key-file":
            "an identity is proven by itself: vaultctl key test SLOT --identity \(path)"
        case .identity where key.origin == "--new-key-file":
            "add its recipient, which is public: --recipient $(age-keygen -y \(path))"
        case .identity where noun != "identity file": "this is an age identity: use \(target(key))identity \(path)"
        case .vault where noun != nil: "the vault is named with --vault, and its key file with --key-file"
        case .backup where noun != nil: "a backup is an argument: vaultctl backup verify \(path)"
        case .keyFileWithMark where key.file.map({ FileKind.hasByteOrderMark($0.path) }) == true:
            "an editor put it there; the key itself is unharmed: sed -i '1s/^\\xEF\\xBB\\xBF//' \(path)"
        case .keyFileWithMark:
            "an editor has put a mark or a blank before the line; the key itself is unharmed: take it away"
        case .pem where noun == "key file": "a client's key belongs to a provider: --client-key-file"
        default: nil
        }
    }

    private func target(_ key: KeyInUse) -> String { key.origin.hasPrefix("--target-") ? "--target-" : "--" }

    private func isSwapped(_ place: NamedPlace, _ keyPath: String) -> Bool {
        FileKind(place.path) == .keyFile && [.vault, .backup].contains(FileKind(keyPath))
    }

    private func swapped(_ place: NamedPlace, _ key: KeyInUse, _ keyPath: String) -> Failure {
        let (vault, line) = (Printable.path(keyPath), Printable.path(place.path))
        return .otherFile(
            place.noun, "\(place.origin) and \(key.origin) are swapped: \(line) is a key file, and \(vault) is a vault",
            hints: ["use --vault \(vault) --key-file \(line)"])
    }

    private func notWhatItIs(_ error: VaultError, _ place: NamedPlace, _ key: KeyInUse?) -> Failure {
        guard !VaultLocation.isPostgreSQL(place.path), let kind = FileKind(place.path) else {
            return named(error, place)
        }
        func other(_ message: String, _ hints: String...) -> Failure {
            var failure = Failure.otherFile(place.noun, "\(place.words) \(message)", hints: hints)
            // What is left of one, perhaps.
            if kind == .binary { failure = Failure(.damaged, code: failure.code, failure.message, hints: hints) }
            return failure
        }
        let check = "check \(place.origin)"
        if let part = part(of: place, kind) {
            return Failure(
                .damaged, code: VaultError.Code.notAVault.name,
                "\(place.words) is \(kind.words), not a vault; or its beginning is damaged, as "
                    + "\(Printable.path(part)) beside it is a vault's",
                hints: [
                    check,
                    "if it was the vault: stop all writers, keep a copy of the file, and restore a backup: vaultctl "
                        + "backup restore BACKUP TARGET",
                ])
        }
        return switch kind {
        case .vault where place.noun == "vault", .backup where place.noun == "backup", .empty: named(error, place)
        case .backup:
            other(
                "is a backup, and cannot be used as a vault",
                "make a vault of it: vaultctl backup restore \(Printable.path(place.path)) TARGET")
        case .vault:
            other(
                "is a vault, not a backup of one",
                "name a backup: vaultctl backup list lists them; to restore one: vaultctl backup restore BACKUP TARGET",
                "to check the vault itself: vaultctl verify --vault \(Printable.path(place.path))")
        case .directory: other("is a directory, not a \(place.noun)", error.hint ?? check)
        case .notAFile: other("is \(kind.words), and no \(place.noun)", check)
        case .unknown: other("is not a \(place.noun)", check)
        default: other("is \(kind.words), not a \(place.noun)", check)
        }
    }

    /// The lock file or the spool beside this file: only a vault has them.
    private func part(of place: NamedPlace, _ kind: FileKind) -> String? {
        guard place.noun == "vault", [.binary, .unknown, .database].contains(kind) else { return nil }
        return [".lock", ".spool"].map { place.path + $0 }.first { NamedFile($0).exists }
    }

    /// The library's sentence with the path, and a hint that fits the caller.
    private func named(_ error: VaultError, _ place: NamedPlace) -> Failure {
        if place.noun == "backup", error.code == .damaged, error.message.hasPrefix("the vault file ") {
            let message = error.message.replacing("the vault file", with: "the backup", maxReplacements: 1)
            return Failure(
                error.code, "\(message): \(place.words)", hints: ["use another backup: vaultctl backup list"])
        }
        var failure = Failure(error)
        // Root must not take a service's vault away from it.
        if error.code == .unsafeFile, let status = try? FileStatus(at: place.path, followingLinks: true) {
            let owner = PathProblem.words(status.owner)
            if UserID.current.isRoot, !status.owner.isRoot {
                failure.hints = ["run vaultctl as its owner: runuser -u \(owner) -- vaultctl …"]
            } else if !status.isOurs, failure.message.contains("belongs to another user") {
                failure.hints = ["run vaultctl as its owner, \(owner)"]
            }
        }
        let name = place.path.split(separator: "/").last.map(String.init) ?? place.path
        // An error about a witness or a pin names its own path.
        let fronts = ["the vault", "the file", "the backup", "the database server cannot", "there is no space"]
        let isOfVault = fronts.contains { failure.message.hasPrefix($0) }
        guard isOfVault, !failure.message.contains("/\(name)"), !failure.message.contains(place.words) else {
            return failure
        }
        var named = Failure(
            failure.status, code: failure.code, "\(failure.message): \(place.words)", hints: failure.hints)
        named.answer = failure.answer
        return named
    }

    private func isSameFile(_ one: String, _ other: String) -> Bool { Self.isSameFile(one, other) }
}
