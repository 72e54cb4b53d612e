import FoundationEssentials
import Platform
import TokenVault
import VaultAdministration

/// The files of the vault, by name and permissions.
enum FileCheckup {
    static func findings(_ path: String, trustsFileSystem: Bool) -> [DoctorFinding] {
        Vault.files(at: path, trustsFileSystem: trustsFileSystem).map { file in
            if let problem = file.problem {
                let refusal = "the vault is refused: "
                let words = problem.hasPrefix(refusal) ? String(problem.dropFirst(refusal.count)) : problem
                return DoctorFinding(
                    .problem, .file, about: file.path, "\(Self.words(file.role)): \(words)\(mode(file.mode))",
                    hint: file.hint ?? closed(file.path))
            }
            if let detail = file.detail {
                return DoctorFinding(
                    .ok, .file, about: file.path, "\(words(file.role)): \(detail), supports what SQLite needs")
            }
            return DoctorFinding(
                .ok, .file, about: file.path,
                "\(words(file.role)): " + (file.mode == nil ? "does not exist now" : "safe\(mode(file.mode))"))
        }
    }

    /// What to do about a file that this user cannot reach.
    static func closed(_ path: String) -> String? {
        PathProblem("file", at: path, from: "its directories' modes", advice: "")?.hints.first
    }

    /// The witness of the vault's newest state.
    static func witness(_ witness: VaultWitness?, of vault: Vault, isFile: Bool) async throws -> [DoctorFinding] {
        guard let witness else {
            if let since = try await vault.witnessedSince() { return [forgottenWitness(since)] }
            guard isFile else { return [unwitnessedServer] }
            return [
                DoctorFinding(
                    .note, .witness, "no witness is named: if the vault is set back to an older state, no one notices",
                    hint: "name a file on another file system, --witness PATH, or a program, --witness-command JSON")
            ]
        }
        let name = WitnessView.name(witness)
        if WitnessView.sharesDevice(witness, with: vault) {
            return [
                DoctorFinding(
                    .warning, .witness, about: name, WitnessView.sharedDevice,
                    hint: "put it on another file system, or better on another machine")
            ]
        }
        return [DoctorFinding(.ok, .witness, about: name, "has seen no newer state of the vault")]
    }

    /// A process without the witness believes an older state, and its renewals are missing in the witness log.
    private static func forgottenWitness(_ since: Date) -> DoctorFinding {
        DoctorFinding(
            .warning, .witness,
            "no witness is named, and this vault has had one since \(Instant.words(since, now: nil)): name it, and its log, "
                + "in every process",
            hint: "set TOKENVAULT_WITNESS, and TOKENVAULT_WITNESS_LOG if it has a log, as the services do")
    }

    /// None of our commands sets a database back, and the server does not report it.
    private static var unwitnessedServer: DoctorFinding {
        DoctorFinding(
            .warning, .witness,
            "no witness is named: a snapshot of the database that is put back, or a base backup that is simply "
                + "started, is noticed only by machines that have used the vault since",
            hint: "name a file on another file system, --witness PATH, or a program, --witness-command JSON")
    }

    static func mode(_ mode: UInt32?) -> String {
        mode.map { " (mode \(String($0, radix: 8)))" } ?? ""
    }

    private static func words(_ role: VaultDiagnosis.File.Role) -> String {
        switch role {
        case .fileSystem: "the file system"
        case .directory: "the directory"
        case .vault: "the vault"
        case .wal: "SQLite's log"
        case .sharedMemory: "SQLite's shared memory"
        case .lock: "the owners' locks"
        case .spool: "the spool"
        }
    }
}

/// The key file and its location.
enum KeyFileCheckup {
    static func findings(_ key: NamedKey?, vault: String?) -> [DoctorFinding] {
        switch key {
        case .keyFile(let path)? where !path.hasPrefix("/dev/"): findings(path, vault: vault)
        case .environment?:
            [
                DoctorFinding(
                    .warning, .keyFile,
                    "the key is in an environment variable, which other programs of this user can read",
                    hint: "use a key file, a systemd credential or --key-command")
            ]
        case .credential(let name)?: [credential(name)]
        default: [DoctorFinding(.ok, .keyFile, "no key file is in use")]
        }
    }

    private static func credential(_ name: String) -> DoctorFinding {
        let path = (ProcessEnvironment.value(of: "CREDENTIALS_DIRECTORY") ?? "") + "/" + name
        guard SecretFiles.isInMemory(path) == false else {
            return DoctorFinding(.ok, .keyFile, about: path, "a systemd credential")
        }
        return DoctorFinding(
            .note, .keyFile, about: path, "the credential is not on a file system in memory: it may be on a disk",
            hint: "run the service with the privilege to mount ramfs, as systemd does for system services")
    }

    private static func findings(_ path: String?, vault: String?) -> [DoctorFinding] {
        guard let path else {
            return [DoctorFinding(.ok, .keyFile, "no key file is in use")]
        }
        let status: FileStatus
        do throws(SystemError) { status = try FileStatus(at: path, followingLinks: true) } catch {
            return [
                DoctorFinding(
                    .problem, .keyFile, about: path, error == .notFound ? "does not exist" : "cannot be checked",
                    hint: error == .notFound
                        ? "check --key-file, or restore the key file from its backup" : FileCheckup.closed(path))
            ]
        }
        let mode = FileCheckup.mode(status.permissions)
        do {
            _ = try SecretFiles.read(path, title: "key file", atMost: 4096)
        } catch {
            let failure = Failure(error)
            return [
                DoctorFinding(
                    .problem, .keyFile, about: path, failure.message + mode,
                    hint: failure.hints.first.map { "\($0), and consider who may have read it" })
            ] + place(path, vault)
        }
        let findings = [DoctorFinding(.ok, .keyFile, about: path, "safe\(mode)")]
        return findings + place(path, vault)
    }

    private static func place(_ path: String, _ vault: String?) -> [DoctorFinding] {
        let directory = PathName.directory(of: path)
        guard let own = try? FileStatus(at: directory, followingLinks: true) else { return [] }
        if own.permissions & 0o022 != 0, !own.isSticky {
            return [
                DoctorFinding(
                    .problem, .keyFile, about: directory,
                    "others may replace files in its directory\(FileCheckup.mode(own.permissions))",
                    hint: "chmod go-w \(directory)")
            ]
        }
        guard let vault else { return [] }
        let beside = PathName.directory(of: vault)
        guard let other = try? FileStatus(at: beside, followingLinks: true), own.identity == other.identity else {
            return []
        }
        return [
            DoctorFinding(
                .note, .keyFile, about: path, "is in the vault's directory: anyone who copies that has both",
                hint: "keep it in another directory, apart from backups of the vault")
        ]
    }
}

/// The library that reads and writes the vault.
enum SQLiteCheckup {
    static func findings() -> [DoctorFinding] {
        let version = Vault.sqliteVersion
        guard Vault.isSQLiteAffectedByWALReset else {
            return [DoctorFinding(.ok, .sqlite, about: version, "not affected by known bugs")]
        }
        return [
            DoctorFinding(
                .note, .sqlite, about: version,
                "has the WAL-reset bug (3.7.0 to 3.51.2): a checkpoint at the wrong moment can lose commits. The vault is "
                    + "safe from it: its checkpoint gate keeps other writers out meanwhile",
                hint: "let no other program write to the vault's file; the bug is fixed in 3.51.3")
        ]
    }
}
