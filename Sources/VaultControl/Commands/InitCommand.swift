import ArgumentParser
import Platform
import TokenVault
import VaultAdministration
import VaultStorage

struct InitCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Create a vault, and its key file if there is none yet.",
        discussion: """
            vaultctl init --vault app.vault --key-file app.key
            vaultctl init --vault app.vault --key-file app.key --recipient age1...

            With --recipient, the vault gets a recovery key at once: the age identity of that recipient opens it. Make it \
            with age-keygen on another machine, and keep the identity there.

            Without --key-file, a passphrase opens the vault. If init is interrupted, it leaves a complete vault or \
            none: run it again. Keep a copy of the key apart from the vault and its backups: anyone who has both can \
            read everything, and without the key no one can.
            """)

    @Option(
        help: .init(
            "An age recipient, age1..., whose identity should open the vault as well. Repeatable.",
            valueName: "age1..."))
    var recipient: [String] = []

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        try Failure.requireSingle(recipient, "--recipient")
        let access = VaultAccess(global, invocation)
        let location = try access.location
        let path = location.description
        var reader = SecretReader(invocation.console)
        // Refuse before making a key that would belong to nothing.
        try refuseExisting(try access.path, access)
        let chosen = try access.keySource(&reader, isNew: true)
        let source = try await access.explaining(access.vaultPlace, access.keyInUse) { try await chosen.resolved() }
        let keyFile = access.keyFileInUse
        let madeKeyFile = keyFile.flatMap { NamedFile($0).exists ? nil : $0 }
        if let madeKeyFile { try VaultAccess.makeKeyFile(madeKeyFile, access.keyInUse?.origin ?? "--key-file") }
        let vault: Vault
        do {
            let options = try access.vaultOptions
            vault = try await access.explaining(access.vaultPlace, access.keyInUse) {
                try await Vault.create(in: location, unlockedBy: source, recoverableBy: recipient, options: options)
            }
        } catch {
            // A key that opens nothing would only confuse whoever finds it.
            if let madeKeyFile { NamedFile(madeKeyFile).discard() }
            throw Self.failure(error, path)
        }
        let status = try await vault.status()
        let slots = try await vault.keySlots()
        await vault.close()
        do {
            try report(path, status, keyFile, isNew: madeKeyFile != nil, invocation)
        } catch {
            reportLoss(slots, try access.keyInUse, invocation)
            throw Self.unreported(error, path, madeKeyFile)
        }
        if keyFile != nil, madeKeyFile == nil {
            invocation.note("used the existing key file; it opens this vault from now on")
        }
        reportLoss(slots, try access.keyInUse, invocation)
        invocation.hint("next, add a provider: vaultctl provider add NAME --issuer URL --client-id ID")
    }

    /// Reports the consequence of losing the keys.
    private func reportLoss(_ slots: [KeySlot], _ key: KeyInUse?, _ invocation: Invocation) {
        guard slots.count == 1 else {
            invocation.note("any one of \(slots.count) keys opens this vault; if all are lost, so is everything in it")
            for slot in slots where slot.kind == .recipient {
                invocation.hint(
                    "prove the recovery key once, where its identity is: vaultctl key test \(slot.id) --identity PATH")
            }
            return
        }
        invocation.note(
            "only \(key?.noun ?? "the passphrase") opens this vault; if it is lost, so is everything in the vault")
        if key?.file != nil { invocation.hint("copy its file to a safe place apart from the vault") }
        invocation.hint("add a recovery key: vaultctl key add --recipient age1...")
    }

    private func refuseExisting(_ path: String, _ access: VaultAccess) throws {
        let directory = PathName.directory(of: path)
        if let kind = FileKind(directory), kind != .directory {
            throw Failure.usage(
                "\(Printable.path(directory)) is a file: no vault can be made in it",
                hint: "choose another --vault, in a directory")
        }
        guard NamedFile(path).exists else {
            try VaultAccess.refuseNameOfPart(path)
            let isSame = access.keyFileInUse.map {
                $0.split(separator: "/").last == path.split(separator: "/").last
                    && VaultAccess.isSameFile(PathName.directory(of: $0), directory)
            }
            guard isSame != true else {
                throw Failure.usage(
                    "the vault and its key file are both named \(Printable.path(path))",
                    hint: "they are two files: --vault app.vault --key-file app.key")
            }
            try refuseUnreachable(path, access)
            return try refuseRemains(path)
        }
        do {
            _ = try Vault.migrationStatus(at: path, trustsFileSystem: access.trustsFileSystem)
        } catch let error as VaultError where error.code == .vaultUnfinished {
            throw error
        } catch {
            // Whatever the file is, it stays.
        }
        if FileKind(path) == .directory {
            let inside = path + (path.hasSuffix("/") ? "" : "/") + "app.vault"
            throw Failure(
                .usage, code: "vaultExists", "\(Printable.path(path)) is a directory",
                hints: ["name a new file in it: --vault \(Printable.path(inside))"])
        }
        throw Failure(
            .usage, code: "vaultExists", "a file already exists at \(Printable.path(path))",
            hints: ["a vault is never overwritten; choose another --vault"])
    }

    /// What is left of a vault that was here may still be needed.
    private func refuseRemains(_ path: String) throws {
        guard let remains = VaultRemains(of: path) else { return }
        throw Failure(
            .usage, code: "vaultExists", "no vault is made at \(Printable.path(path)): \(remains.words)",
            hints: remains.hints)
    }

    /// A symbolic link that leads nowhere, and a directory that is closed to this user.
    private func refuseUnreachable(_ path: String, _ access: VaultAccess) throws {
        let isLink = FileIdentity(path: path) != nil
        guard isLink || NamedFile(path).refusal(of: .existence) == .accessDenied,
            let problem = PathProblem("vault", at: path, from: try access.vaultPlace.origin, advice: "check --vault")
        else { return }
        throw isLink
            ? Failure(
                .usage, code: "vaultExists",
                problem.isMissing
                    ? "no vault can be made at \(Printable.path(path)): it is a symbolic link that leads nowhere"
                    : problem.message,
                hints: problem.hints)
            : Failure(.machine, code: "storageFailed", problem.message, hints: problem.hints)
    }

    /// The error for output that did not arrive. The vault is there.
    private static func unreported(_ error: any Error, _ path: String, _ keyFile: String?) -> Failure {
        var failure = Failure(error)
        let made = keyFile.map { " and its key file \(Printable.path($0)) were" } ?? " was"
        failure.hints.append("the vault \(Printable.path(path))\(made) created: do not run init again")
        return failure
    }

    private static func failure(_ error: any Error, _ path: String) -> any Error {
        if var failure = error as? Failure, failure.code == VaultError.Code.storageFull.name {
            failure.hints = ["free some space on its file system; no vault was made"]
            return failure
        }
        guard let error = error as? VaultError, error.code == .vaultMissing,
            path.hasPrefix("/") || !path.contains("://")
        else { return error }
        let directory = PathName.directory(of: path)
        return Failure(
            .machine, code: "directoryMissing", error.message, hints: [PathName.adviceToMake(directory)])
    }

    private func report(
        _ path: String, _ status: StoreStatistics, _ keyFile: String?, isNew: Bool, _ invocation: Invocation
    ) throws {
        try invocation.emit([
            Field("vault", path), Field("id", status.vaultID),
            Field("keyFile", keyFile).words(isNew ? keyFile.map { "\($0) (new)" } : keyFile),
            .data("keyFileIsNew", isNew),
        ])
    }
}
