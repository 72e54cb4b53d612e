import ArgumentParser
import TokenVault
import VaultAdministration

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Decide what happens to the logins of a restored vault.",
        subcommands: [RestoreStatusCommand.self, RestoreHoldCommand.self, RestoreAcceptCommand.self])
}

struct RestoreStatusCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show how many logins of each provider are held, and at what risk.")

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let held = try await VaultAccess(global, invocation).open { try await $0.heldLogins() }
        try invocation.emit("providers", held.map(BackupRecords.record), BackupRecords.heldHeadings)
        if !held.contains(where: { $0.held > 0 }) { invocation.note(HeldLogins.noneWords) }
    }
}

extension HeldLogins {
    /// Logins that an import holds are another command's.
    fileprivate static let noneWords =
        "no login is held by a restore; for logins that another system renews: vaultctl import status"
}

struct RestoreAcceptCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept",
        abstract: "Let the held logins of a provider be renewed again.",
        discussion: """
            A refresh token of the backup may have been spent since, and a server that sees it again may end the login. \
            Begin with --probe 3: it accepts three logins, renews them at once, and stops, so that you can check. Where \
            the risk is too high, do nothing: access tokens are served while they last, and a new log-in of the user is \
            never held.

            vaultctl restore accept --provider acme --dry-run    say what would be accepted; send nothing
            vaultctl restore accept --provider acme --probe 3    accept and renew three, then stop
            vaultctl restore accept --provider acme              accept all; they are renewed when due
            vaultctl restore accept --app                        accept logins that only the app can renew

            The exit code is 3 if a probed login could not be renewed.
            """)

    @Option(help: "The provider.")
    var provider: String?

    @OptionGroup var tenant: TenantOption

    @Flag(help: "Logins without a provider: only the app can renew them.")
    var app = false

    @Option(help: .init("Accept this number of logins, renew them now, and stop.", valueName: "count"))
    var probe: Int?

    @Flag(help: "Accept although the provider may end logins when it sees an old refresh token.")
    var risk = false

    @Flag(help: "Say what would be accepted, and change nothing.")
    var dryRun = false

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func validate() throws {
        guard (provider == nil) == app else { throw ValidationError("specify either --provider NAME or --app") }
        guard tenant.tenant == nil || provider != nil else { throw ValidationError("--tenant needs --provider") }
        if let probe, !(1...1_000).contains(probe) { throw ValidationError("--probe must be between 1 and 1000") }
        if probe != nil, app { throw ValidationError("--probe needs a provider: the app renews the others") }
    }

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        if dryRun { return try await plan(access, invocation) }
        try await access.manage { users in
            let held = try await users.vault.heldLogins(ofProvider: provider.map { tenant.provider($0) })
            if let refusal = riskNotTaken(held) { throw refusal }
            var acceptance = try await users.vault.acceptRestore(
                ofProvider: provider.map { tenant.provider($0) }, limit: probe)
            var probes = ProbedLogins()
            if let probe {
                // Nothing is sent for ended and dead logins: they prove nothing, and others take their place.
                var accepted = acceptance.logins
                while !accepted.isEmpty {
                    for login in accepted {
                        guard try await users.vault.login(login).isProbe else { continue }
                        await probes.renew(login, users)
                    }
                    guard probes.count < probe else { break }
                    let more = try await users.vault.acceptRestore(
                        ofProvider: provider.map { tenant.provider($0) }, limit: probe - probes.count)
                    acceptance.add(more)
                    accepted = more.logins
                }
            }
            let left = try await users.vault.heldLogins(ofProvider: provider.map { tenant.provider($0) }).held
            try emit(acceptance, probes, left, invocation)
            if held.held == 0 { invocation.note(HeldLogins.noneWords) }
            if probes.hasFailure || acceptance.damaged > 0 {
                throw ExitRequest(status: .partlyDone)
            }
        }
    }

    private func plan(_ access: VaultAccess, _ invocation: Invocation) async throws {
        let held = try await access.open { try await $0.heldLogins(ofProvider: provider.map { tenant.provider($0) }) }
        let count = probe.map { min($0, held.held) } ?? held.held
        let requests = probe == nil ? 0 : count
        try invocation.emit(
            BackupRecords.record(held) + [
                .data("isDryRun", true), Field("accepted", count).label("would be accepted"),
                Field("requests", requests).label("requests sent now"),
            ])
        if let refusal = riskNotTaken(held) {
            invocation.warn(
                "without --probe or --risk none is accepted: the provider may end logins at an old refresh token")
            for hint in refusal.hints { invocation.advise(hint) }
        }
        invocation.note(
            held.held == 0
                ? HeldLogins.noneWords
                : probe == nil && provider != nil
                    ? "nothing is sent at once: each login is renewed when it is due" : "nothing was changed")
    }

    /// A probe measures the risk.
    private func riskNotTaken(_ held: HeldLogins) -> Failure? {
        guard held.held > 0, probe == nil, !risk, held.risk == .ended || held.risk == .allLoginsOfUser else {
            return nil
        }
        return Failure(
            .usage, code: "riskNotTaken",
            "provider \(Printable.shortened(held.provider ?? "")) may end logins when it sees an old refresh token; "
                + "nothing was changed",
            hints: [
                "try a few first: add --probe 3", "if they are renewed, or you take the risk: add --risk",
                "otherwise ask the users to log in again: vaultctl login begin --into LOGIN",
            ])
    }

    private func emit(
        _ acceptance: RestoreAcceptance, _ probes: ProbedLogins, _ left: Int, _ invocation: Invocation
    ) throws {
        let record: OutputRecord = [
            Field("accepted", acceptance.count), Field("stillHeld", left).label("still held"),
            Field("damaged", acceptance.damaged).words(acceptance.damaged > 0 ? acceptance.damaged : nil),
            .data("probes", probes.records),
        ]
        try invocation.emit(record, text: invocation.text(record) + probes.text(invocation))
    }
}

extension Login {
    /// Whether a renewal of the login shows anything.
    fileprivate var isProbe: Bool {
        guard case .terminated = state else { return failure == nil }
        return false
    }
}
