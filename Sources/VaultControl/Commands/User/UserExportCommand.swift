import ArgumentParser
import FoundationEssentials
import TokenVault
import VaultAdministration
import VaultStorage

struct UserExportCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write everything that the vault holds of a user, but for secrets, as JSON.",
        discussion: """
            vaultctl user export alice --out alice.json

            For a person who asks for their data: the user, their logins with the providers' claims and the app's values, \
            and each row of the audit log that names them. It contains no token and no key. The audit log records the \
            export. With --out and --json, standard output names the file.
            """)

    @Argument(help: "The user's id.")
    var id: String

    @Option(
        help: .init("Write to this new file; - is standard output.", valueName: "file"),
        completion: .file())
    var out: String?

    @OptionGroup var tenant: TenantOption

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    private static let page = 500

    func run(_ invocation: Invocation) async throws {
        let record = try await VaultAccess(global, invocation).open { vault in
            try await Self.record(tenant.user(id), vault, invocation)
        }
        let text = record.json.text + "\n"
        guard let out, out != "-" else { return try invocation.console.write(text, to: .output) }
        try PrivateFile.write(Array(text.utf8), to: out)
        try invocation.emit(OutputRecord([.data("exported", out)]), text: "")
        invocation.note("wrote \(Printable.shortened(out, to: 200))")
    }

    private static func record(_ id: String, _ vault: Vault, _ invocation: Invocation) async throws -> OutputRecord {
        let user = try await vault.user(id)
        _ = try await vault.resolveUsers(purpose: "vaultctl user export")
        var (logins, after) = ([OutputRecord](), nil as LoginID?)
        repeat {
            let page = try await vault.logins(ofUser: id, after: after, limit: page)
            logins += page.map { LoginView.wholeSheet($0, now: invocation.now) }
            after = page.count == Self.page ? page.last?.id : nil
        } while after != nil
        var (rows, next) = ([OutputRecord](), Optional(Int64(0)))
        let query = AuditQuery(userHandle: user.handle)
        while let position = next {
            try Task.checkCancellation()
            let page = try await vault.auditRecords(after: position, query, limit: Self.page)
            rows += page.records.map(AuditLines.record)
            next = page.next
        }
        return [
            .data("vault", try await vault.status().vaultID), .data("at", invocation.now),
            .data("user", UserView.record(user)), .data("logins", logins), .data("auditRows", rows),
        ]
    }
}
