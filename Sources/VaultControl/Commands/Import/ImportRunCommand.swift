import ArgumentParser
import TokenVault
import VaultImport

struct ImportRunCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Read a source, and take its logins over.",
        discussion: """
            vaultctl import run db.sqlite3 --dry-run             say what would happen, and change nothing
            vaultctl import run db.sqlite3 --report rows.jsonl   with a line for each row
            vaultctl import run accounts.jsonl --name web        the source is called web from now on
            vaultctl import run db.sqlite3 --final               read it until it is seen not to change

            Nothing is sent, and nothing is written to the source. The logins belong to the source until \
            `vaultctl import accept`. Run it again to follow the source: only what has changed is written. It may be \
            stopped at any moment, and is simply run again.

            Refresh tokens belong to a client id: rows of another client than the vault's provider are rejected. What each \
            source needs is in man tokenvault-import.

            Exit codes: 0 every row was taken or needed no taking, 3 some were rejected, the source has renewed logins that \
            the vault owns, or with --final it still changes, 1 no row could be used.
            """)

    @OptionGroup(title: "Source") var source: SourceOptions
    @OptionGroup var reportOptions: ReportOptions

    @Flag(help: "New logins belong to the vault at once: the source is gone, and renews nothing.")
    var take = false

    @Flag(help: "Say what would happen to each row, and change nothing.")
    var dryRun = false

    @Flag(help: "Read the source two or three times, until two readings at least a pause apart find nothing new.")
    var final = false

    @Option(help: .init("With --final: how long to wait between two readings, 60s at least.", valueName: "time"))
    var pause = TimeSpan(.seconds(60))

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func validate() throws {
        guard !final || !take && !dryRun else {
            throw ValidationError("--final cannot be combined with --take or --dry-run")
        }
        guard final || pause.duration == .seconds(60) else {
            throw ValidationError("--pause is of no use without --final")
        }
        guard pause.duration >= .seconds(60) else { throw ValidationError("--pause must be 60s or more") }
    }

    func run(_ invocation: Invocation) async throws {
        let source = try source.open(invocation)
        let name = self.source.name(of: source)
        let report = try ReportWriter(reportOptions, invocation)
        let options = self.source.taking(take ? .take : .hold, as: name, isRehearsal: dryRun)
        var known: [String] = []
        var held = 0
        let (pass, isQuiet) = try await VaultAccess(global, invocation).open { vault in
            known = try await vault.providers(of: self.source.tenant.tenant?.tenant).map(\.name)
            try await KnownSources.warn(ofNew: name, in: vault, invocation)
            var pass = try await ImportPass(source, into: vault, options, report, invocation)
            if take, !dryRun, pass.result[.unchanged] + pass.result[.followed] > 0 {
                held = try await KnownSources(of: vault).held(name)
            }
            guard final else { return (pass, true) }
            // The first pass may import changes made while the source was being stopped.
            var quiet = pass.result.isQuiet ? 1 : 0
            for reading in 2...3 where quiet < 2 {
                guard reading == 2 || quiet > 0 else { break }
                invocation.note(
                    "\(pass.result.isQuiet ? "nothing has changed" : "changes were taken over"); reading it again in "
                        + "\(Instant.duration(pause.duration / .seconds(1)))")
                try await Task.sleep(for: pause.duration)
                pass = try await ImportPass(source, into: vault, options, report, invocation)
                quiet = pass.result.isQuiet ? quiet + 1 : 0
            }
            return (pass, quiet >= 2)
        }
        let advice = RejectAdvice.lines(for: pass.result, of: self.source.tenant, known) + pass.advice
        let failure = failure(pass, isQuiet: isQuiet, advice, invocation)
        try report.end(
            ImportRecords.record(pass.result, of: source, name: name) + [.data("isDryRun", dryRun)]
                + (failure?.record(exitCode: Interrupts.exitCode) ?? []))
        if held > 0 {
            invocation.note(
                "\(Count.of(held, "login")) that \(held == 1 ? "was" : "were") there still "
                    + "\(held == 1 ? "belongs" : "belong") to the source; to take \(held == 1 ? "it" : "them"): "
                    + "vaultctl import accept \(Printable.argument(name)) --source-is-gone")
        }
        if let missing = pass.result.missing, missing > 0, pass.result.matches == 0 {
            invocation.warn(
                "\(Count.of(missing, "login")) of \(Printable.shortened(name)) in the vault, and the source has none of "
                    + "them: is it the right one? Those that a reading does not find are not accepted")
        }
        warn(ofUnused: pass.result.reading?.unusedRules ?? [], invocation)
        if dryRun { invocation.note("nothing was changed") }
        if reportOptions.report == nil, pass.result.reading?.warnings[.expiryUnreadable] != nil {
            invocation.note(
                "see which rows have no readable expiry: --report FILE; how it may be written: man tokenvault-import")
        }
        // A source without a usable row has them as hints.
        if failure?.status != .usage {
            for line in advice { invocation.warn(line) }
        }
        if let failure { throw invocation.end(afterOutput: failure) }
        try end(pass.result, name, invocation)
    }

    /// A typing error there: the rows that were meant go to the provider of their own name.
    private func warn(ofUnused rules: [String], _ invocation: Invocation) {
        guard !rules.isEmpty else { return }
        invocation.warn(
            "no row has the provider \(Printable.list(rules)), which the provider map names (--provider-map)")
    }

    /// Nil if rows could be used, and no other system renews them.
    private func failure(
        _ pass: ImportPass, isQuiet: Bool, _ advice: [String], _ invocation: Invocation
    ) -> Failure? {
        let result = pass.result
        let usable = result[.added] + result[.followed] + result[.unchanged]
        guard result.rows == 0 || usable > 0 || result.reasons.isEmpty else {
            return .nothingUsable("no row of the source could be used", advice)
        }
        if let failure = pass.renewalBySource(source, isRehearsal: dryRun, invocation) { return failure }
        guard !isQuiet else { return nil }
        return Failure(
            .partlyDone, code: "sourceNotQuiet",
            "the source still renews: \(Count.of(result[.followed] + result[.added], "login")) changed between two "
                + "readings",
            hints: ["stop what renews there, and run this again; man tokenvault-import says how, for each source"])
    }

    private func end(_ result: ImportResult, _ name: String, _ invocation: Invocation) throws {
        if final {
            invocation.hint(
                "renew ten of them here and see what happens: vaultctl import accept \(Printable.argument(name)) --probe 10"
            )
        } else if !take, !dryRun, result[.added] > 0 {
            invocation.hint(
                "they still belong to \(name): vaultctl import status; the next steps: man tokenvault-cut-over")
        }
        guard result.reasons.isEmpty else {
            if reportOptions.report == nil { invocation.note("see which rows were rejected: --report FILE") }
            throw ExitRequest(status: .partlyDone)
        }
    }
}
