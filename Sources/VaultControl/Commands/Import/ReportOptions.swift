import ArgumentParser
import Platform
import TokenVault
import VaultImport

/// The destination of the report.
struct ReportOptions: ParsableArguments {
    @Option(
        help: .init(
            "Write a JSON line for each row into a new file; - is standard output. No line holds a token.",
            valueName: "path"), completion: .file())
    var report: String?

    @Flag(help: "Name users and the source's own keys in the report.")
    var showUsers = false

    func validate() throws {
        if showUsers, report == nil { throw ValidationError("--show-users needs --report") }
    }
}

/// Writes the lines of a report one by one.
final class ReportWriter {
    /// Whether a report was requested.
    let isWanted: Bool
    /// Nil: standard output.
    private let file: Descriptor?
    private let showsUsers: Bool
    private let invocation: Invocation
    private let path: String
    private var buffer: [UInt8] = []

    init(_ options: ReportOptions, _ invocation: Invocation) throws {
        self.invocation = invocation
        showsUsers = options.showUsers
        path = options.report ?? "-"
        guard let report = options.report, report != "-" else {
            file = nil
            isWanted = options.report != nil
            return
        }
        isWanted = true
        file = try PrivateFile.create(report)
    }

    func write(_ row: ImportedRow, _ fingerprint: String?) throws {
        try write(ImportRecords.record(row, fingerprint, showsUsers: showsUsers).json.text)
    }

    private func write(_ line: String) throws {
        buffer += Array(line.utf8) + [UInt8(ascii: "\n")]
        if buffer.count >= 65_536 { try flush() }
    }

    /// Writes the last line, or the result on standard output if the report goes elsewhere.
    func end(_ record: OutputRecord) throws {
        if isWanted, file == nil { try write(record.json.text) }
        try flush()
        if !isWanted || file != nil { try invocation.emit(record) }
    }

    private func flush() throws {
        defer { buffer.removeAll(keepingCapacity: true) }
        guard !buffer.isEmpty else { return }
        guard let file else { return try invocation.console.write(buffer, to: .output) }
        try PrivateFile.write(buffer, to: file, path)
    }
}
