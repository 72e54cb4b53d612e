import Platform
import TokenVault
import TokenVaultPostgreSQL
import VaultStorage

/// The vault's location.
extension VaultAccess {
    var path: String {
        get throws(Failure) {
            guard let path = options.vault ?? environment("TOKENVAULT_VAULT") else {
                let advice =
                    invocation.configuration.map {
                        "use --vault PATH, set TOKENVAULT_VAULT, or add a line to \(Printable.path($0.path)): "
                            + #"vault = "/PATH""#
                    } ?? "use --vault PATH, set TOKENVAULT_VAULT, or name it in a configuration file"
                throw Failure(
                    .usage, "no vault specified",
                    hints: Environment.slips(invocation.console.environment, ["TOKENVAULT_VAULT"]) + [advice])
            }
            return path
        }
    }

    /// The vault's location: a file or a server.
    var location: VaultLocation {
        get throws {
            try location(try path)
        }
    }

    /// Whether the vault is a file.
    var isFile: Bool {
        get throws(Failure) { !VaultLocation.isPostgreSQL(try path) }
    }

    /// The location in an option's or argument's text.
    func location(_ text: String) throws -> VaultLocation {
        guard VaultLocation.isPostgreSQL(text) else {
            try refuseAddress(text)
            return .sqlite(text)
        }
        guard !VaultLocation.holdsPassword(text) else {
            throw Failure.usage(
                "the connection string holds a password, and anyone on this machine can read it",
                hint: "put the password into ~/.pgpass, or into the private file that PGPASSFILE names")
        }
        return try .postgreSQL(text, stateDirectory: environment("TOKENVAULT_STATE_DIRECTORY"))
    }

    /// The vault's file; throws if the vault is on a server.
    ///
    /// - Parameter advice: what to do on a server instead.
    func file(_ advice: String) throws(Failure) -> String {
        let path = try path
        guard !VaultLocation.isPostgreSQL(path) else {
            throw .usage("the vault is on a server, and this command works on a vault in a file", hint: advice)
        }
        return path
    }

    /// Refuses a server as the target of a restore.
    func requirePath(_ target: String) throws(Failure) {
        guard VaultLocation.isPostgreSQL(target) else { return }
        throw .usage(
            "a backup is restored to a file, and the target is a server",
            hint: "restore it to a file, then move that vault: vaultctl move run --vault FILE TARGET")
    }

    /// Refuses a missing file. For a server, only a connection can show whether the vault exists.
    func requireFile() throws {
        try requireFile(at: vaultPlace)
    }

    func requireFile(at place: NamedPlace) throws(Failure) {
        guard !VaultLocation.isPostgreSQL(place.path),
            let problem = PathProblem(
                "vault", at: place.path, from: place.origin,
                advice: "check \(place.origin), or create a vault: vaultctl init", home: environment("HOME"))
        else { return try refuseCompanion(place) }
        guard problem.isMissing else {
            throw Failure(.machine, code: "storageFailed", problem.message, hints: problem.hints)
        }
        // An empty vault in the place of a lost one would hide the loss.
        if let remains = VaultRemains(of: place.path) {
            throw Failure(.vaultMissing, "\(problem.message); \(remains.words)", hints: remains.hints)
        }
        throw Failure(.vaultMissing, problem.message, hints: problem.hints)
    }

    /// Files next to a vault are a part of it: do not restore or remove them.
    private func refuseCompanion(_ place: NamedPlace) throws(Failure) {
        guard let ending = Self.endingsOfParts.first(where: place.path.hasSuffix),
            case let vault = String(place.path.dropLast(ending.count)), FileKind(vault) == .vault
        else { return }
        throw .otherFile(
            place.noun, "\(place.words) belongs to the vault \(Printable.path(vault)), and is none itself",
            hints: ["name the vault: \(Printable.path(vault))"])
    }

    /// Refuses a path that cannot be a new vault, naming the argument.
    static func refuseTarget(_ target: String) throws(Failure) {
        guard target != "-" else {
            throw .usage("a vault is a file, and is not written to standard output (TARGET)", hint: "name a new file")
        }
        try refuseNameOfPart(target)
        if FileKind(target) == .directory {
            let file = Printable.path(target + (target.hasSuffix("/") ? "" : "/") + "NAME.vault")
            try InputFile.refuseOther(at: target, from: "TARGET", hint: "name a new file in it: \(file)")
        }
        let directory = PathName.directory(of: target)
        if let kind = FileKind(directory), kind != .directory {
            throw .usage(
                "\(Printable.path(directory)) is a file: no vault can be made in it (TARGET)",
                hint: "name a new file in a directory")
        }
        guard !NamedFile(directory).exists else { return }
        throw Failure(
            .machine, code: "directoryMissing",
            "there is no directory \(Printable.path(directory)) for the new vault (TARGET)",
            hints: [PathName.adviceToMake(directory)])
    }

    static let endingsOfParts = ["-wal", "-shm", "-journal", ".lock", ".spool"]

    /// A vault with such a name would be mistaken for a part of another one.
    static func refuseNameOfPart(_ path: String) throws(Failure) {
        guard let ending = endingsOfParts.first(where: path.hasSuffix) else { return }
        throw .usage(
            "a vault's name cannot end with \(ending): a vault's companion files end like that",
            hint: "choose another name")
    }

    /// The address of a system that keeps no vaults would be mistaken for a file name.
    private func refuseAddress(_ text: String) throws(Failure) {
        guard !NamedFile(text).exists else { return }
        if let path = PathProblem.bare(text) {
            throw .usage(
                "a vault in a file is named by its path alone, not by \(Printable.path(text))",
                hint: "write: \(Printable.path(path))")
        }
        let isConnection = [
            "host=", "hostaddr=", "dbname=", "user=", "port=", "password=", "postgres:", "postgresql:", "pg:",
        ].contains { text.lowercased().hasPrefix($0) }
        guard let scheme = PathProblem.scheme(of: text) else {
            guard isConnection else { return }
            // Not repeated: it may hold a password.
            throw .usage(
                "the address of a vault on a server begins with postgresql://, and this does not",
                hint: "write the address as postgresql://USER@HOST/DATABASE")
        }
        let isPostgreSQL =
            scheme.lowercased().contains("postgres") || ["pg", "psql", "pgsql"].contains(scheme.lowercased())
        throw .usage(
            "a vault is a file, or on a PostgreSQL server, and \(Printable.shortened(scheme))://… is neither",
            hint: isPostgreSQL
                ? "write the address as postgresql://USER@HOST/DATABASE"
                : "use a path, or postgresql://USER@HOST/DATABASE")
    }

    /// Creates a new key file, or throws the reason why it cannot be created.
    static func makeKeyFile(_ path: String, _ origin: String) throws {
        do {
            try KeyFiles.generate(at: path)
        } catch let error as VaultError where error.code == .storageFailed {
            let directory = PathName.directory(of: path)
            guard NamedFile(directory).refusal(of: .existence) == .notFound else { throw error }
            throw Failure(
                error.code,
                "the key file \(Printable.path(path)) cannot be written: there is no directory \(Printable.path(directory)) "
                    + "(\(origin))",
                hints: [PathName.adviceToMake(directory)])
        }
    }
}
