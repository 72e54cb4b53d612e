import ArgumentParser
import TokenVault
import VaultAdministration
import VaultStorage

struct DamageExportCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write a damaged row, as stored in the file, and what belongs to it, as JSON.",
        discussion: """
            vaultctl damage export ROW --output row.json
            vaultctl damage export ROW --output - | …

            Sealed cells stay sealed; bytes are in base64. The file must not exist yet; only its owner can read it.
            """)

    @OptionGroup var selection: DamagedRowSelection

    @Option(help: .init("The file to create; - for standard output.", valueName: "file"))
    var output: String

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        try selection.check()
        let (id, content, vaultID) = try await VaultAccess(global, invocation).open { vault in
            let id = try await selection.id(in: vault)
            let content = try await DamagedRowSelection.content(of: id, in: vault)
            return (id, content, try await vault.status().vaultID)
        }
        let document = Self.document(content, vaultID).json.text + "\n"
        guard output != "-" else {
            try invocation.console.write(document, to: .output)
            return
        }
        try PrivateFile.write(Array(document.utf8), to: output)
        try invocation.emit(
            OutputRecord([.data("exported", output), .data("row", id), .data("hash", Hex.encode(content.hash))]),
            text: "")
        invocation.note("wrote \(Count.of(content.rows.count, "row")) to \(Printable.shortened(output, to: 200))")
    }

    private static func document(_ content: DamagedRowContent, _ vaultID: String) -> OutputRecord {
        [.data("format", "tokenvault-damaged-row-1"), .data("vault", vaultID)] + DamageView.record(content.row)
            + [.data("hash", Hex.encode(content.hash)), .data("rows", content.rows.map(DamageView.record))]
    }
}
