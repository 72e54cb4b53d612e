import Platform
import TokenVault
import TokenVaultPostgreSQL

extension VaultAccess {
    func requireWitness() throws -> VaultWitness {
        guard let witness = try witness else {
            throw Failure.usage(
                "no witness specified",
                hint: "use --witness PATH or --witness-command JSON, or set TOKENVAULT_WITNESS")
        }
        return witness
    }

    func beginWitness() async throws {
        let location = try location
        try requireFile()
        var reader = SecretReader(invocation.console)
        let key = try keySource(&reader, isNew: false)
        let options = try vaultOptions
        try await explaining(vaultPlace, keyInUse) {
            try await Vault.beginWitness(in: location, unlockedBy: key, options: options)
        }
    }

    /// Returns whether the witness made it hold all logins.
    func acceptForWitness() async throws -> Bool {
        let location = try location
        try requireFile()
        var reader = SecretReader(invocation.console)
        let key = try keySource(&reader, isNew: false)
        let options = try vaultOptions
        return try await explaining(vaultPlace, keyInUse) {
            try await Vault.acceptForWitness(in: location, unlockedBy: key, options: options)
        }
    }

    /// A witness is replaced repeatedly, and a log is appended to: neither may share its path with another file.
    func requireFilesOfTheirOwn(_ witness: String?, _ log: String?) throws(Failure) {
        if let witness {
            let others = log.map { [("the witness log", $0)] } ?? []
            let isGiven = options.witness != nil
            try requireFileOfItsOwn(witness, "the witness", "--witness", isGiven, "TOKENVAULT_WITNESS", others)
        }
        guard let log else { return }
        let isGiven = options.witnessLog != nil
        try requireFileOfItsOwn(log, "the witness log", "--witness-log", isGiven, "TOKENVAULT_WITNESS_LOG", [])
    }

    private func requireFileOfItsOwn(
        _ file: String, _ noun: String, _ option: String, _ isGiven: Bool, _ variable: String,
        _ others: [(String, String)]
    ) throws(Failure) {
        var others = others
        if let vault = try? path, !VaultLocation.isPostgreSQL(vault) {
            others += ([""] + Self.endingsOfParts).map { ("the vault", vault + $0) }
        }
        switch (try? namedKey) ?? nil {
        case .keyFile(let path)?: others.append(("the key file", path))
        case .identity(let path)?: others.append(("the identity", path))
        case .passphrase(.file(let path, _))?: others.append(("the passphrase file", path))
        default: break
        }
        let hint = "name a file of its own, on another file system: \(option) PATH"
        if let other = others.first(where: { Self.isSameFile(file, $0.1) }) {
            throw .usage("\(noun) is named like \(other.0): \(Printable.path(file))", hint: hint)
        }
        try InputFile.refuseOther(at: file, from: origin(option, isGiven: isGiven, variable), hint: hint)
    }

    /// By name, or because both paths lead to one file.
    static func isSameFile(_ one: String, _ two: String) -> Bool {
        if one == two { return true }
        let file = { (path: String) in (try? FileStatus(at: path, followingLinks: true))?.identity }
        let (first, second) = (file(one), file(two))
        if let first, let second { return first == second }
        // A missing file may still have two paths, through two names of its directory.
        guard first == nil, second == nil, one.split(separator: "/").last == two.split(separator: "/").last else {
            return false
        }
        guard let its = file(PathName.directory(of: one)), let other = file(PathName.directory(of: two)) else {
            return false
        }
        return its == other
    }
}
