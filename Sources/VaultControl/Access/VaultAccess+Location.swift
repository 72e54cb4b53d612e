import Platform
import TokenVault
import TokenVaultPostgreSQL

/// Where the vault is.
extension VaultAccess {
    var path: String {
        get throws(Failure) {
            guard let path = options.vault ?? environment("TOKENVAULT_VAULT") else {
                let advice = "use --vault PATH, set TOKENVAULT_VAULT, or name it in a configuration file"
                throw Failure(
                    .usage, "no vault specified", hints: Environment.slips(invocation.console.environment) + [advice])
            }
            return path
        }
    }

    /// Where the vault lies: in a file or on a server.
    var location: VaultLocation {
        get throws {
            try location(try path)
        }
    }

    /// Whether the vault lies in a file.
    var isFile: Bool {
        get throws(Failure) { !VaultLocation.isPostgreSQL(try path) }
    }

    /// What the text of an option or argument names.
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

    /// The file that the vault is; refused where it lies on a server.
    ///
    /// - Parameter advice: what to do there instead.
    func file(_ advice: String) throws(Failure) -> String {
        let path = try path
        guard !VaultLocation.isPostgreSQL(path) else {
            throw .usage("the vault is on a server, and this command works on a vault in a file", hint: advice)
        }
        return path
    }

    /// Refuses a server as the place of a vault that is made of a backup.
    func requirePath(_ target: String) throws(Failure) {
        guard VaultLocation.isPostgreSQL(target) else { return }
        throw .usage(
            "a backup is restored to a file, and the target is a server",
            hint: "restore it to a file, then move that vault: vaultctl move run --vault FILE TARGET")
    }

    /// Refuses a file that is not there. Of a server that is known only once it is asked.
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
        throw Failure(.vaultMissing, problem.message, hints: problem.hints)
    }

    /// What lies beside a vault is a part of it: nothing is to be restored there, and nothing removed.
    private func refuseCompanion(_ place: NamedPlace) throws(Failure) {
        guard let ending = Self.endingsOfParts.first(where: place.path.hasSuffix),
            case let vault = String(place.path.dropLast(ending.count)), FileKind(vault) == .vault
        else { return }
        throw Failure(
            .notAVault, "\(place.words) belongs to the vault \(Printable.path(vault)), and is none itself",
            hints: ["name the vault: \(Printable.path(vault))"])
    }

    /// Refuses a path at which no new vault can be, in words of the argument that names it.
    static func refuseTarget(_ target: String) throws(Failure) {
        guard target != "-" else {
            throw .usage("a vault is a file, and is not written to standard output (TARGET)", hint: "name a new file")
        }
        try refuseNameOfPart(target)
        guard FileKind(target) != .directory else {
            throw .usage(
                "\(Printable.path(target)) (TARGET) is a directory",
                hint:
                    "name a new file in it: \(Printable.path(target + (target.hasSuffix("/") ? "" : "/") + "NAME.vault"))"
            )
        }
        let directory = PathName.directory(of: target)
        if let kind = FileKind(directory), kind != .directory {
            throw .usage(
                "\(Printable.path(directory)) is a file: no vault can be made in it (TARGET)",
                hint: "name a new file in a directory")
        }
        guard !NamedFile(directory).exists else { return }
        throw Failure(
            .notFound, "there is no directory \(Printable.path(directory)) for the new vault (TARGET)",
            hints: ["create the directory first: mkdir -m 700 \(Printable.path(directory))"])
    }

    static let endingsOfParts = ["-wal", "-shm", "-journal", ".lock", ".spool"]

    /// A vault of such a name would be taken for a part of another one.
    static func refuseNameOfPart(_ path: String) throws(Failure) {
        guard let ending = endingsOfParts.first(where: path.hasSuffix) else { return }
        throw .usage(
            "a vault's name cannot end with \(ending): so ends what lies beside a vault", hint: "choose another name")
    }

    /// An address of something that keeps no vaults would be taken for the name of a file.
    private func refuseAddress(_ text: String) throws(Failure) {
        guard !NamedFile(text).exists else { return }
        if let path = PathProblem.bare(text) {
            throw .usage(
                "a vault in a file is named by its path alone, not by \(Printable.path(text))",
                hint: "write: \(Printable.path(path))")
        }
        let isConnection = ["host=", "hostaddr=", "dbname=", "postgres:", "postgresql:", "pg:"].contains {
            text.lowercased().hasPrefix($0)
        }
        guard let scheme = PathProblem.scheme(of: text) else {
            guard isConnection else { return }
            throw .usage(
                "a vault on a server is named by its address, not by \(Printable.path(text))",
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

    /// A new key file, or why there cannot be one.
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
                hints: ["create it first: mkdir -m 700 \(Printable.path(directory))"])
        }
    }
}
