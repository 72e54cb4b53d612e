import ArgumentParser
import TokenVault
import TokenVaultPostgreSQL
import VaultAdministration

struct DoctorCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find problems around the vault, and suggest what to do about them.",
        discussion: """
            vaultctl doctor
            vaultctl doctor --online

            Checks files and their permissions, the key file and the key slots, SQLite, locked memory, open renewals and their owners, \
            the spool, pending revocations, the state of logins and their providers' answers, providers whose rules seem to have changed, backups, \
            and client certificates that expire soon. With --online, it also asks each provider for the time. \
            Changes nothing and sends no token; vaultctl verify checks the vault's contents.

            You can accept an intended finding, such as a server without a standby: with --accept server, warnings of \
            that check no longer count for the exit code. Problems always do.

            If the vault cannot be opened, it reports what can be seen from outside. The exit code is 3 if there is a \
            problem or a warning.
            """)

    @Flag(help: "Ask the providers for the time, and compare.")
    var online = false

    @Option(
        help: .init(
            "Accept this check's warnings: \(DoctorFinding.Check.choices). Repeatable.", valueName: "check"
        ))
    var accept: [DoctorFinding.Check] = []

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        // A wrong option is no finding about the vault.
        _ = try access.proxy
        let location = try access.location
        let (path, origin) = (location.description, try access.vaultPlace.origin)
        let isFile = try !VaultLocation.isPostgreSQL(access.path)
        let report = DoctorReport(invocation, accepting: Set(accept))
        let outside = outside(access, file: isFile ? path : nil)
        var isOpen = false
        do {
            try await access.open { vault in
                isOpen = true
                try report.add([DoctorFinding(.ok, .vault, about: path, "opens")] + outside)
                let checkup = VaultCheckup(vault: vault, invocation: invocation)
                try report.add(await KeySlotCheckup.findings(vault, now: invocation.now))
                try report.add(await RootKeyCheckup.findings(vault, now: invocation.now))
                for part in checkup.parts { try report.add(await part()) }
                try report.add(await StopCheckup.findings(vault, now: invocation.now))
                try report.add(await DriftCheckup.findings(vault))
                try report.add(await CertificateCheckup.findings(vault, now: invocation.now))
                try report.add(await ClientSecretCheckup.findings(vault, now: invocation.now))
                try report.add(await FileCheckup.witness(access.witness, of: vault, isFile: isFile))
                if !isFile { try report.add(await ServerCheckup.findings(vault)) }
                try report.add(await clocks(vault, access))
            }
        } catch  where !isOpen && !(error is CancellationError) {
            let failure = Failure(error)
            // There is nothing to check, and nothing to add to the error.
            guard failure.code != "vaultMissing" else {
                throw failure.notSuggestingInit(
                    isFile
                        ? "check \(origin); if the vault is lost, restore a backup: vaultctl backup restore BACKUP "
                            + Printable.path(path)
                        : "check host, database and schema; if the vault is lost, restore the database")
            }
            try report.add(
                LockedVaultCheckup.findings(location, failure, namesKey: access.namesKey) + outside
                    + LockedVaultCheckup.unseen)
        } catch {
            try report.writeFound()
            throw error
        }
        try report.finish()
        if !report.isHealthy { throw ExitRequest(status: .partlyDone) }
    }

    /// The findings on a vault that do not need it open.
    ///
    /// - Parameter path: nil: the vault is on a server.
    private func outside(_ access: VaultAccess, file path: String?) -> [DoctorFinding] {
        ConfigurationCheckup.findings(access.invocation.configuration)
            + ConfigurationCheckup.findings(ofVariables: access.invocation.console.environment)
            + (path.map { FileCheckup.findings($0, trustsFileSystem: access.trustsFileSystem) } ?? [])
            + KeyFileCheckup.findings((try? access.namedKey) ?? nil, vault: path)
            + (path == nil ? [] : SQLiteCheckup.findings())
    }

    private func clocks(_ vault: Vault, _ access: VaultAccess) async -> [DoctorFinding] {
        let behind = await ClockCheckup.behind(vault, now: access.invocation.now)
        guard online else {
            return behind + [.unseen(.clock, "providers are asked only with --online", level: .note)]
        }
        return behind + (await ClockCheckup.findings(vault, access))
    }
}

extension DoctorFinding.Check: ExpressibleByArgument {
    static var choices: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

/// The configuration file in use.
enum ConfigurationCheckup {
    static func findings(_ file: ConfigurationFile?) -> [DoctorFinding] {
        guard let file else { return [DoctorFinding(.ok, .configuration, "no file is in use")] }
        let names = file.settings.map(\.setting.name)
        return [
            DoctorFinding(
                .ok, .configuration, about: file.path,
                names.isEmpty ? "sets nothing" : "sets \(names.joined(separator: ", "))")
        ]
    }
}

extension ConfigurationCheckup {
    static func findings(ofVariables environment: [String: String]) -> [DoctorFinding] {
        Environment.unknown(environment).map { name in
            DoctorFinding(
                .warning, .configuration, about: Printable.shortened(name),
                "no such variable is known: it has no effect",
                hint: "check its spelling: vaultctl help lists the variables with their options")
        }
    }
}

/// A vault that cannot be opened, checked from outside.
enum LockedVaultCheckup {
    static func findings(_ location: VaultLocation, _ failure: Failure, namesKey: Bool) -> [DoctorFinding] {
        let path = location.description
        // A missing key at hand is not a fault of the vault.
        let isLocked = failure.status == .key && !namesKey
        var findings = [
            DoctorFinding(
                isLocked ? .warning : .problem, .vault, about: path, "cannot be opened: \(failure.message)",
                hint: failure.hints.first)
        ]
        if failure.status == .key { findings += schema(location) }
        return findings
    }

    static var unseen: [DoctorFinding] {
        let checks: [DoctorFinding.Check] = [
            .keySlots, .rootKey, .lockedMemory, .ownership, .renewal, .spool, .writing, .outbox, .login, .provider,
            .backup, .clock, .witness, .certificate, .clientSecret, .trail, .mixUp,
        ]
        return checks.map { .unseen($0, "the vault is not open", level: .note) }
    }

    /// Whether this is a vault at all is visible without its key, too.
    private static func schema(_ location: VaultLocation) -> [DoctorFinding] {
        let path = location.description
        do {
            let status = try Vault.migrationStatus(in: location)
            let isCurrent = status.schemaVersion == status.newestVersion
            return [
                DoctorFinding(
                    isCurrent ? .ok : .warning, .vault, about: path,
                    "is a vault with schema version \(status.schemaVersion)"
                        + (isCurrent ? "" : "; this vaultctl writes \(status.newestVersion)"),
                    hint: isCurrent ? nil : "see what is missing: vaultctl migrate plan")
            ]
        } catch {
            let failure = Failure(error)
            return [DoctorFinding(.problem, .vault, about: path, failure.message, hint: failure.hints.first)]
        }
    }
}
