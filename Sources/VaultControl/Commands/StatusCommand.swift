import ArgumentParser
import TokenVault

struct StatusCommand: VaultCommand {
    static let configuration = CommandConfiguration(commandName: "status", abstract: "Tell what is in the vault.")

    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        let path = try access.path
        let status = try await access.open { try $0.status() }
        var facts = Facts()
        facts.add("vault", path)
        facts.add("id", status.vaultID)
        facts.add("schema", String(status.schemaVersion))
        facts.add("users", String(status.users))
        facts.add("logins", String(status.logins))
        facts.add("providers", String(status.providers))
        facts.add("key slots", String(status.keySlots))
        facts.add("open renewals", String(status.openRenewals))
        facts.add("pending revocations", String(status.pendingRevocations))
        facts.add("audit entries", String(status.auditEntries))
        facts.add(
            "SQLite",
            status.sqliteVersion
                + (status.isSQLiteAffectedByWALReset
                    ? " (can lose commits at a checkpoint; the vault's own checkpoints avoid it)" : ""))
        facts.add("locked memory", status.lockedMemory.rawValue)
        try invocation.emit(json: json(path, status), facts: facts)
        if status.lockedMemory != .full {
            invocation.warn("keys may be written to swap: raise the limit of locked memory (ulimit -l)")
        }
    }

    private func json(_ path: String, _ status: VaultStatus) -> JSONValue {
        .object([
            ("vault", .string(path)), ("id", .string(status.vaultID)),
            ("schemaVersion", .integer(status.schemaVersion)), ("users", .integer(status.users)),
            ("logins", .integer(status.logins)), ("providers", .integer(status.providers)),
            ("keySlots", .integer(status.keySlots)), ("openRenewals", .integer(status.openRenewals)),
            ("pendingRevocations", .integer(status.pendingRevocations)),
            ("auditEntries", .integer(status.auditEntries)), ("sqliteVersion", .string(status.sqliteVersion)),
            ("sqliteIsAffectedByWALReset", .bool(status.isSQLiteAffectedByWALReset)),
            ("lockedMemory", .string(status.lockedMemory.rawValue)),
        ])
    }
}
