import ArgumentParser
import TokenVault
import VaultImport

struct ImportAcceptCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept",
        abstract: "Make the vault the owner of a source's logins: it renews them from now on.",
        discussion: """
            The other system must have been stopped, and the last two readings must have found nothing new: vaultctl import \
            run SOURCE --final. Begin with --probe 10: it accepts ten logins, renews them at once, and stops at the first \
            that its provider refuses.

            vaultctl import accept web --probe 10           accept and renew ten, then stop
            vaultctl import accept web --provider acme      all of one provider
            vaultctl import accept web --rate 5/s           all, of which five a second fall due

            Logins that the source no longer has, contested ones and dead ones stay as they are. Exit code 3 if a probed \
            login could not be renewed, or if some stay held or contested.
            """)

    @Argument(help: "The name of the source, as `vaultctl import status` shows it.")
    var name: String

    @Option(help: "Only logins of this provider.")
    var provider: String?

    @OptionGroup var tenant: TenantOption

    @Option(help: .init("Accept this number of logins, renew them now, and stop.", valueName: "count"))
    var probe: Int?

    @Option(help: .init("How many logins fall due a second at most, such as 5/s.", valueName: "rate"))
    var rate: String?

    @Flag(help: "Accept without proof that the source has stopped renewing: it is gone.")
    var sourceIsGone = false

    @Flag(help: "Say how many would be accepted, and change nothing.")
    var dryRun = false

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func validate() throws {
        if let probe, !(1...1_000).contains(probe) { throw ValidationError("--probe must be between 1 and 1000") }
        if rate != nil, ratePerSecond == nil { throw ValidationError("--rate must be of the form 5/s") }
        if probe != nil, rate != nil { throw ValidationError("--probe and --rate cannot be combined") }
    }

    private var ratePerSecond: Double? {
        guard let rate, rate.hasSuffix("/s"), let number = Double(rate.dropLast(2)), number.isFinite, number > 0 else {
            return nil
        }
        return number
    }

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        let (name, provider) = (tenant.source(name), provider.map { tenant.provider($0) })
        if dryRun { return try await plan(name, provider, access, invocation) }
        do {
            try await accept(name, provider, access, invocation)
        } catch let error as VaultError where error.code == .sourceNotQuiet {
            throw Failure(
                error.code, error.message,
                hints: [
                    "stop what renews there, then read it to its end: vaultctl import run SOURCE \(typed) --final",
                    "without that proof, if the source is gone, or is an export that no one renews: --source-is-gone",
                ])
        }
    }

    private func accept(
        _ name: String, _ provider: String?, _ access: VaultAccess, _ invocation: Invocation
    ) async throws {
        let proof = ImportProof(pause: sourceIsGone ? nil : .seconds(60))
        try await access.manage { users in
            let known = try await KnownSources(of: users.vault)
            try await known.require(name, in: users.vault)
            if let provider { _ = try await users.vault.provider(named: provider) }
            // Where nothing is held, no proof is needed.
            let held = known.held(name, at: provider)
            var acceptance = ImportAcceptance.none
            var probes = ProbedLogins()
            if held > 0, let probe {
                // One after another: once a provider ends one, no further one is risked.
                for _ in 0..<probe where !probes.hasFailure {
                    let one = try await users.vault.acceptImport(
                        from: name, provider: provider, limit: 1, proof: proof)
                    guard let login = one.logins.first else { break }
                    acceptance.add(one)
                    await probes.renew(login, users)
                }
            } else if held > 0 {
                acceptance = try await users.vault.acceptImport(
                    from: name, provider: provider, rate: ratePerSecond, proof: proof)
            }
            let record: OutputRecord = [
                Field("source", name), Field("accepted", acceptance.count),
                Field("skipped", acceptance.skipped).words(acceptance.skipped > 0 ? acceptance.skipped : nil),
                Field("damaged", acceptance.damaged).words(acceptance.damaged > 0 ? acceptance.damaged : nil),
                .data("probes", probes.records),
            ]
            try invocation.emit(record, text: invocation.text(record) + probes.text(invocation))
            if acceptance.count == 0 {
                invocation.note(
                    "the source owns no login\(provider == nil ? "" : " at this provider") that could be accepted")
            }
            let isPartial = warn(ofHeld: known, name, provider, invocation)
            if let login = probes.failed {
                invocation.hint("check it before you continue: vaultctl login show \(login)")
                throw ExitRequest(status: .partlyDone)
            }
            if probe != nil, acceptance.count > 0 {
                invocation.hint("if they work, accept the others: vaultctl import accept \(Printable.argument(name))")
            } else if isPartial {
                throw ExitRequest(status: .partlyDone)
            }
        }
    }

    /// Says which logins are not accepted, and why. Returns whether there are any.
    private func warn(
        ofHeld known: KnownSources, _ name: String, _ provider: String?, _ invocation: Invocation
    ) -> Bool {
        let (missing, contested) = (known.missing(name, at: provider), known.contested(name, at: provider))
        if missing > 0 {
            invocation.warn(
                "\(Count.of(missing, "login")) not accepted: the last reading of the source did not have them")
            invocation.advise(
                "if it read the wrong file, or a part, read the right one: vaultctl import run SOURCE \(typed)")
            invocation.advise("if their users are gone: vaultctl user erase USER")
        }
        if contested > 0 {
            invocation.warn("\(Count.of(contested, "login")) contested: the source has renewed what the vault owns")
            invocation.advise(
                "stop the other system, then take its tokens: vaultctl import check SOURCE \(typed) --adopt")
        }
        return missing + contested > 0
    }

    /// The source as the commands of hints name it.
    private var typed: String { "--name \(Printable.argument(self.name))\(tenant.typed)" }

    private func plan(
        _ name: String, _ provider: String?, _ access: VaultAccess, _ invocation: Invocation
    ) async throws {
        let known = try await access.open { vault in
            let known = try await KnownSources(of: vault)
            try await known.require(name, in: vault)
            if let provider { _ = try await vault.provider(named: provider) }
            return known
        }
        let held = known.held(name, at: provider) - known.missing(name, at: provider)
        let count = probe.map { min($0, held) } ?? held
        try invocation.emit([
            Field("source", name), .data("isDryRun", true), Field("accepted", count).label("would be accepted"),
            Field("requests", probe == nil ? 0 : count).label("requests sent now"),
        ])
        _ = warn(ofHeld: known, name, provider, invocation)
        invocation.note("nothing was changed")
    }
}
