import TokenVault
import VaultImport

/// One pass over a source against the vault.
struct ImportPass {
    let result: ImportResult
    /// Logins that the vault owns, and the source has renewed.
    let renewedBySource: Set<LoginID>
    /// What to do about rejected rows; none if there are none.
    private(set) var advice: [String]
    /// How many of the vault's logins had come from this source.
    private(set) var logins = 0
    /// Logins that an earlier reading has found renewed by both, and that still are.
    var contested = 0
    /// Whether any login of the vault came from this source.
    var isKnownSource = true
    /// What a check has found.
    var failure: Failure?

    init(
        _ source: ImportSource, into vault: Vault, _ options: ImportRunOptions, _ report: ReportWriter,
        _ invocation: Invocation
    ) async throws {
        var rows = ImportRun(source, into: vault, options: options).makeAsyncIterator()
        var renewed: Set<LoginID> = []
        var taken: LoginID?
        let progress = RowProgress(invocation)
        defer { progress.finish() }
        do {
            while let row = try await rows.next() {
                progress.update(rows.result.rows, share: rows.progress)
                if report.isWanted { try report.write(row, try rows.fingerprint(of: row)) }
                if row.outcome == .renewedBySource, let login = row.login { renewed.insert(login) }
                if taken == nil, row.outcome == .rejected(.alreadyThere) { taken = row.login }
            }
        } catch  where Task.isCancelled {
            throw Self.interruption(rows.result, options)
        }
        (result, renewedBySource) = (rows.result, renewed)
        // One that only a rehearsal has added is not there.
        let other: Login? = if let taken { try? await vault.login(taken) } else { nil }
        advice = other.map { Self.advice(on: $0, options.name) } ?? []
    }

    /// What to do about rows that this login keeps out of the source of that name.
    private static func advice(on login: Login, _ name: String?) -> [String] {
        let show = "the login that has it already: vaultctl login show \(login.id)"
        guard let other = login.origin?.source, other != name else { return [show] }
        return ["if it is the source \(Printable.shortened(other)): --name \(Printable.shortened(other))", show]
    }

    /// Names the logins that the source has renewed although the vault owns them; nil: there are none.
    func renewalBySource(
        _ source: SourceOptions, isRehearsal: Bool = false, _ invocation: Invocation
    ) -> Failure? {
        guard !renewedBySource.isEmpty else { return nil }
        for login in renewedBySource.map(\.description).sorted().prefix(100) {
            invocation.warn("the source has renewed login \(login), which is the vault's own")
        }
        return Failure(
            .partlyDone, code: "renewedBySource",
            "the source has renewed \(Count.of(renewedBySource.count, "login")) of the vault's own"
                + (isRehearsal ? "" : "; nothing is sent for \(renewedBySource.count == 1 ? "it" : "them") from here"),
            hints: [
                "stop the other system, then take its tokens: \(source.adoption)",
                "for the next step, see: man tokenvault-cut-over",
            ])
    }

    /// The number of rows that were rejected, and not because the vault has their login from elsewhere.
    var rejected: Int { result.reasons.reduce(0) { $0 + ($1.key == .alreadyThere ? 0 : $1.value) } }

    private var comparesNothing: Bool { rejected > 0 && result.matches + result[.absent] == 0 }

    /// Reports the changes up to the interruption.
    private static func interruption(_ result: ImportResult, _ options: ImportRunOptions) -> Failure {
        let rows = Count.of(result.rows, "row")
        guard !options.isRehearsal, options.purpose != .compare else {
            return Failure(.partlyDone, code: "interrupted", "interrupted after \(rows); nothing was changed")
        }
        let stored = "\(Count.of(result[.added], "new login")) and \(Count.of(result[.followed], "change"))"
        return Failure(
            .partlyDone, code: "interrupted", "interrupted after \(rows); \(stored) of them are stored",
            hints: ["run the same command again: it takes what is left, and finds what is stored unchanged"])
    }

    /// Runs a pass that changes nothing, and prints its report and its result.
    static func run(
        _ options: SourceOptions, _ purpose: ImportRunOptions.Purpose, _ reportOptions: ReportOptions,
        _ global: GlobalOptions, _ invocation: Invocation
    ) async throws -> ImportPass {
        let source = try options.open(invocation)
        let name = options.name(of: source)
        let report = try ReportWriter(reportOptions, invocation)
        var isKnown = true
        var pass = try await VaultAccess(global, invocation).open {
            let known = try await KnownSources(of: $0)
            if purpose != .compare { try await known.require(name, in: $0) }
            isKnown = known.contains(name)
            let providers = try await $0.providers(of: options.tenant.tenant?.tenant).map(\.name)
            if !isKnown { invocation.warn("\(known.words(name)); \(known.advice(name))") }
            var pass = try await ImportPass(source, into: $0, options.taking(purpose, as: name), report, invocation)
            pass.advice = RejectAdvice.lines(for: pass.result, of: options.tenant, providers) + pass.advice
            pass.logins = known.logins(name)
            if purpose != .compare, known.contested(name) > 0 {
                pass.contested = try await KnownSources(of: $0).contested(name)
            }
            return pass
        }
        pass.isKnownSource = isKnown
        if purpose != .compare { pass.failure = pass.renewalBySource(options, invocation) }
        if pass.failure == nil, pass.comparesNothing {
            pass.failure = .nothingUsable("no row of the source could be compared", pass.advice)
        }
        try report.end(
            ImportRecords.record(pass.result, of: source, name: name)
                + (pass.failure?.record(exitCode: Interrupts.exitCode) ?? []))
        return pass
    }
}

extension ImportResult {
    /// The number of rows whose login the vault had before.
    var matches: Int { self[.unchanged] + self[.followed] + self[.older] + self[.renewedBySource] + self[.ended] }
}

extension Failure {
    /// The source has rows, and each was rejected.
    static func nothingUsable(_ message: String, _ advice: [String]) -> Failure {
        Failure(
            .usage, code: "nothingUsable", message,
            hints: advice + ["see why, row by row: --report FILE", "what each source needs: man tokenvault-import"])
    }
}

/// The number of rows read so far, their share of the source, and the remaining time at this rate.
package final class RowProgress {
    private let invocation: Invocation
    private let isShown: Bool
    private var shown = 0
    private let started = ContinuousClock.now

    init(_ invocation: Invocation) {
        self.invocation = invocation
        isShown = invocation.console.isRich(.error) && !invocation.isQuiet
    }

    func update(_ rows: Int, share: Double?) {
        guard isShown, rows - shown >= 500 else { return }
        shown = rows
        let line = Self.line(rows, share: share, elapsed: (ContinuousClock.now - started) / .seconds(1))
        try? invocation.console.write("\r\(line)\u{1B}[K", to: .error)
    }

    /// - Parameter elapsed: seconds.
    package static func line(_ rows: Int, share: Double?, elapsed: Double) -> String {
        var line = "reading: \(rows) rows"
        guard let share else { return line }
        line += ", \(Int(min(share, 1) * 100)) %"
        // The rate of the first moments is meaningless.
        guard share > 0, share < 1, elapsed >= 2 else { return line }
        return line + ", \(Instant.duration((elapsed / share * (1 - share)).rounded(.up))) left"
    }

    func finish() {
        guard shown > 0 else { return }
        try? invocation.console.write("\r\u{1B}[K", to: .error)
    }
}
