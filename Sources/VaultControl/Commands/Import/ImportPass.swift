import TokenVault
import VaultImport

/// One reading of a source against the vault.
struct ImportPass {
    let result: ImportResult
    /// The first hundred logins that both systems have renewed.
    let renewedByBoth: [LoginID]

    init(
        _ source: ImportSource, into vault: Vault, _ options: ImportRunOptions, _ report: ReportWriter,
        _ invocation: Invocation
    ) async throws {
        var rows = ImportRun(source, into: vault, options: options).makeAsyncIterator()
        var named: [LoginID] = []
        let progress = RowProgress(invocation)
        defer { progress.finish() }
        while let row = try await rows.next() {
            progress.update(rows.result.rows)
            if report.isWanted { try report.write(row, try rows.fingerprint(of: row)) }
            if row.outcome == .renewedBySource, let login = row.login, named.count < 100 { named.append(login) }
        }
        (result, renewedByBoth) = (rows.result, named)
    }

    /// One that only looks, with its report and its result printed.
    static func run(
        _ options: SourceOptions, _ purpose: ImportRunOptions.Purpose, _ reportOptions: ReportOptions,
        _ global: GlobalOptions, _ invocation: Invocation
    ) async throws -> ImportPass {
        let source = try options.open(invocation)
        let name = options.name ?? source.detection.kind.name
        let report = try ReportWriter(reportOptions, invocation)
        let pass = try await VaultAccess(global, invocation).open {
            try await ImportPass(source, into: $0, ImportRunOptions(name: name, purpose: purpose), report, invocation)
        }
        try report.end(ImportSheets.sheet(pass.result, of: source, name: name))
        return pass
    }
}

/// How many rows have been read. A source does not say how many there are.
private final class RowProgress {
    private let invocation: Invocation
    private let isShown: Bool
    private var shown = 0

    init(_ invocation: Invocation) {
        self.invocation = invocation
        isShown = invocation.console.isRich(.error) && !invocation.isQuiet
    }

    func update(_ rows: Int) {
        guard isShown, rows - shown >= 500 else { return }
        shown = rows
        try? invocation.console.write("\rreading: \(rows) rows", to: .error)
    }

    func finish() {
        guard shown > 0 else { return }
        try? invocation.console.write("\r\u{1B}[K", to: .error)
    }
}
