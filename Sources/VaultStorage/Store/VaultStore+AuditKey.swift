import VaultCrypto

extension VaultStore {
    package func auditKeyStatus() async throws(StoreError) -> AuditKeyStatus {
        try await read { reader throws(StoreError) in try reader.auditKeyStatus() }
    }

    /// Writes the audit trail under a new key from the next row on. The rows that prunings kept are read first, while
    /// others can still write.
    package func replaceAuditKey() async throws {
        let new = try SealingKey.generate()
        for _ in 0..<Self.tries {
            let kept = try await survey { try $0.keptMarks(under: new) }
            if try await write({ try $0.replaceAuditKey(by: new, kept) }) { return }
            try Task.checkCancellation()
        }
        _ = try await write { try $0.replaceAuditKey(by: new, nil) }
    }

    /// After this number of prunings in between, other writers wait while the rows are read.
    private static var tries: Int { 5 }
}
