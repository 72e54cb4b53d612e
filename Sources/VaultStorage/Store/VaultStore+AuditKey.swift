import VaultCrypto

extension VaultStore {
    package func auditKeyStatus() async throws(StoreError) -> AuditKeyStatus {
        try await read { reader throws(StoreError) in try reader.auditKeyStatus() }
    }

    /// Writes the audit trail under a new key from the next row on. The rows that prunings have left are looked at first:
    /// others write meanwhile.
    package func replaceAuditKey() async throws {
        let new = try SealingKey.generate()
        for _ in 0..<Self.tries {
            let kept = try await survey { try $0.keptMarks(under: new) }
            if try await write({ try $0.replaceAuditKey(by: new, kept) }) { return }
            try Task.checkCancellation()
        }
        _ = try await write { try $0.replaceAuditKey(by: new, nil) }
    }

    /// After so many prunings that came between, others wait while the rows are looked at.
    private static var tries: Int { 5 }
}
