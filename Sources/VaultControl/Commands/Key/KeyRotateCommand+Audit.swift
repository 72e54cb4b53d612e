import TokenVault
import VaultAdministration
import VaultStorage

extension KeyRotateCommand {
    func replaceAuditKey(_ invocation: Invocation) async throws {
        let status = try await VaultAccess(global, invocation).open { vault in
            try await vault.replaceAuditKey()
            return try await vault.auditKeyStatus()
        }
        let record: OutputRecord = [.data("madeAt", status.madeAt?.date), .data("formerKeys", status.formerKeys)]
        try invocation.emit(record, text: "")
        invocation.note(
            "replaced the audit key; \(Count.of(status.formerKeys, "former key")) kept for the rows that are there")
    }
}
