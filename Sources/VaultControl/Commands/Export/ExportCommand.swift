import ArgumentParser
import TokenVault
import VaultAdministration
import VaultImport
import VaultStorage

struct ExportCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Give logins to another system, sealed to recipients of age.",
        discussion: """
            vaultctl export --for age1… --out logins.age
            vaultctl export --for age1… --format allauth --provider google --out google.sql.age

            From then on the other system renews the logins, and the vault holds them: it serves their access tokens until \
            they expire, and sends nothing. Each login is held before it is written. So an export that ends in the middle \
            leaves no file, and logins that no one renews: run it again with --again, or take them back with vaultctl \
            import accept. With --copy the vault continues to renew them, and the copy must not.

            Tokens are never written in the clear to a terminal or a file. With --plain-to-fd another program gets \
            them through a pipe.

            Exit code 3 if logins were left out for another reason than that they are dead, and 2 if no login fits; \
            --dry-run ends in the same way.
            """)

    @Option(
        name: .customLong("for"),
        help: .init("Who alone can open it, as age1…. Can be given more than once.", valueName: "recipient"))
    var recipients: [String] = []

    @Option(help: .init("Only logins of this provider.", valueName: "name"))
    var provider: String?

    @Option(name: .shortAndLong, help: .init("Only logins of this user.", valueName: "id"))
    var user: String?

    @OptionGroup var tenant: TenantOption

    @Option(help: "The form: that of vaultctl import, or of the system that gets them.")
    var format: ExportFormat = .canonical

    @Option(help: .init("The file to create; - for standard output.", valueName: "file"), completion: .file())
    var out: String?

    @Option(
        help: .init(
            "The descriptor of a pipe or socket that gets the logins in the clear.", valueName: "number"))
    var plainToFd: Int32?

    @Flag(help: "Hold the logins here, because the other system owns them from now on. This is the default.")
    var hold = false

    @Flag(help: "Go on renewing the logins here. If the copy is renewed, too, both lose them.")
    var copy = false

    @Option(help: .init("What the other system is called here.", valueName: "name"))
    var to = "export"

    @Flag(help: "Also export logins that the other system owns already.")
    var again = false

    @Flag(help: "Say what would be exported, and change nothing.")
    var dryRun = false

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func validate() throws {
        guard !(hold && copy) else { throw ValidationError("--hold and --copy cannot be combined") }
        guard tenant.tenant == nil || user != nil || provider != nil else {
            throw ValidationError("--tenant needs --user or --provider, to which it belongs")
        }
        guard !copy || to == "export" else { throw ValidationError("--to is of no use with --copy") }
        guard !(again && copy) else { throw ValidationError("--again and --copy cannot be combined") }
        if (try? ArgumentCheck.source(to)) == nil { throw ValidationError("--to must be a name of 1 to 64 bytes") }
        guard recipients.isEmpty || plainToFd == nil else {
            throw ValidationError("--for and --plain-to-fd cannot be combined")
        }
        guard out == nil || plainToFd == nil else {
            throw ValidationError("--out and --plain-to-fd cannot be combined")
        }
        guard !(global.json && (out == "-" || plainToFd == 1)) else {
            throw ValidationError("with --json, standard output cannot be the export")
        }
    }

    /// After the parser, which first reports what it does not know.
    private func requireTarget() throws(Failure) {
        // A dry run without either says how many there are.
        guard !dryRun || out != nil || !recipients.isEmpty else { return }
        guard !recipients.isEmpty || plainToFd != nil else {
            throw .usage("no recipient of the export is named: add --for age1…")
        }
        guard out != nil || plainToFd != nil else { throw .usage("no file to create is given: add --out FILE") }
    }

    func run(_ invocation: Invocation) async throws {
        try requireTarget()
        try Failure.requireSingle(recipients, "--for")
        try SealedOutput.check(recipients)
        let access = VaultAccess(global, invocation)
        let export = LoginExport.Options(
            userId: user.map { tenant.user($0) }, provider: provider.map { tenant.provider($0) },
            owner: copy ? .vault : .other(to), repeats: again)
        if dryRun { return try await plan(export, access, invocation) }
        let target = try ExportTarget(self, invocation)
        try confirmation.require(
            copy
                ? "If the copy is renewed, too, both lose the logins. Copy the tokens"
                : "The vault no longer renews what it hands over. Hand the logins over to \(Printable.shortened(to))",
            isFinal: false, invocation)
        try target.begin()
        let progress = Progress("exporting", on: invocation.console, isQuiet: invocation.isQuiet)
        let summary = try await access.open { vault in
            defer { progress.finish() }
            let total = try await vault.status().logins
            var sink = try ShapedExport(format.shape) { try target.write($0) }
            do {
                return try await LoginExport(of: vault, export).run(into: &sink) {
                    progress.update(done: $0, total: total)
                }
            } catch let interruption as ExportInterruption {
                throw interrupted(interruption)
            }
        }
        guard summary.exported > 0 else {
            let reasons = reasons(summary)
            throw Failure(
                .notFound, code: "nothingExported", "no login was exported",
                hints: reasons.isEmpty
                    ? ["see which there are: vaultctl login list"] : reasons + advice(summary))
        }
        do { try target.finish() } catch { throw interrupted(ExportInterruption(summary: summary, cause: error)) }
        try report(summary, invocation)
    }

    private func plan(_ options: LoginExport.Options, _ access: VaultAccess, _ invocation: Invocation) async throws {
        if let out, out != "-" { try PrivateFile.refuseExisting(out) }
        let summary = try await access.open { vault in
            var sink = try ShapedExport(format.shape) { _ in }
            return try await LoginExport(of: vault, options).plan(for: &sink)
        }
        try invocation.emit(record(summary), text: "")
        invocation.note("\(Count.of(summary.exported, "login")) would be exported; nothing was changed")
        for line in reasons(summary) { invocation.note(line) }
        // As the export would end.
        if summary.exported == 0 { throw ExitRequest(status: .notFound) }
        try requireWhole(summary)
    }

    private func report(_ summary: ExportSummary, _ invocation: Invocation) throws {
        try invocation.emit(record(summary), text: "")
        invocation.note("exported \(Count.of(summary.exported, "login")); \(owner(of: summary))")
        let lines = reasons(summary)
        guard !lines.isEmpty else { return }
        for line in lines { invocation.warn(line) }
        for line in advice(summary) { invocation.advise(line) }
        try requireWhole(summary)
    }

    private func requireWhole(_ summary: ExportSummary) throws {
        if summary.reasons.keys.contains(where: { $0 != .dead }) { throw ExitRequest(status: .partlyDone) }
    }

    /// Which system renews the exported logins.
    private func owner(of summary: ExportSummary) -> String {
        let (all, lasting) = (summary.exported, summary.exported - summary.unrenewable)
        guard lasting > 0 else {
            return all == 1
                ? "it has no refresh token, so no system can renew it"
                : "they have no refresh tokens, so no system can renew them"
        }
        let them = all == 1 ? "it" : lasting == all ? "them" : "\(lasting) of them; the others have no refresh token"
        return copy
            ? "this vault still renews \(them)"
            : "from now on the system called \(Printable.shortened(to)) renews \(them)"
    }

    private func reasons(_ summary: ExportSummary) -> [String] {
        summary.reasons.sorted { $0.key.name < $1.key.name }.map { reason, count in
            "\(Count.of(count, "login")) left out as \(reason.name): \(reason.message)"
        }
    }

    /// What to do about logins that another system owns.
    private func advice(_ summary: ExportSummary) -> [String] {
        guard summary.reasons[.heldBySource] != nil else { return [] }
        let again = again || copy ? [] : ["to export what \(Printable.shortened(to)) already has: add --again"]
        return again + ["to take logins back first: vaultctl import accept NAME; names: vaultctl import status"]
    }

    /// Reports logins that no process renews now, whatever the error.
    private func interrupted(_ interruption: ExportInterruption) -> Failure {
        var failure = Failure(interruption.cause)
        guard !copy, interruption.summary.heldCount > 0 else { return failure }
        let count = Count.of(interruption.summary.heldCount, "login")
        failure.hints = [
            "\(count) held here already, which no one renews now; the written export is incomplete: discard it",
            "export them again: add --again; or take them back: vaultctl import accept \(Printable.shortened(to)) "
                + "--source-is-gone",
        ]
        return failure
    }

    private func record(_ summary: ExportSummary) -> OutputRecord {
        [
            .data("exported", summary.exported), .data("format", format.rawValue),
            .data("owner", copy ? nil as String? : to), .data("out", out), .data("isDryRun", dryRun),
            .data(
                "providers",
                summary.providers.sorted { $0.key < $1.key }.map { provider, count -> OutputRecord in
                    [.data("provider", provider), .data("logins", count)]
                }),
            .data(
                "leftOut",
                summary.reasons.sorted { $0.key.name < $1.key.name }.map { reason, count -> OutputRecord in
                    [.data("reason", reason.name), .data("logins", count)]
                }),
            .data(
                "logins",
                summary.leftOut.map { login -> OutputRecord in
                    [.data("login", login.login.description), .data("reason", login.reason.name)]
                }),
        ]
    }
}

/// `--format`.
enum ExportFormat: String, ExpressibleByArgument, CaseIterable {
    case canonical, allauth, authjs, spring, nango

    var shape: ExportShape {
        switch self {
        case .canonical: .canonical
        case .allauth: .allauth
        case .authjs: .authJS
        case .spring: .springSecurity
        case .nango: .nango
        }
    }
}
