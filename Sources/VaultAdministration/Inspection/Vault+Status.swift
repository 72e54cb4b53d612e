package import TokenVault
import VaultCrypto
import VaultStorage

extension Vault {
    /// The contents of the vault, in figures. Takes as long as counting its rows.
    package func status() async throws -> VaultStatus {
        try await VaultError.translating { VaultStatus(try await store.statistics()) }
    }

    /// Checks every cell, every manifest and the audit chain. Memory stays bounded, and writers and all other work
    /// continue. Ends early when the task is cancelled.
    ///
    /// - Parameter progress: Called now and then with how many rows have been checked, of how many; first with 0 of 0,
    ///   while the database checks its own file.
    package func verify(
        progress: @escaping @Sendable (_ checked: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws -> VerificationReport {
        try await VaultError.translating {
            VerificationReport(try await store.verify { progress($0.checked, $0.total) })
        }
    }
}

extension VaultStatus {
    init(_ statistics: StoreStatistics) {
        let memory: LockedMemory =
            switch statistics.lockedMemory {
            case .full: .full
            case .partial: .partial
            case .none: .none
            }
        self.init(
            vaultID: statistics.vaultID, schemaVersion: statistics.engine.schemaVersion,
            createdAt: statistics.createdAt.date, users: statistics.users, logins: statistics.logins,
            providers: statistics.providers, keySlots: statistics.keySlots, openRenewals: statistics.openIntents,
            pendingRevocations: statistics.pendingRevocations, auditEntries: statistics.auditRows,
            lastBackupAt: statistics.lastBackupAt?.date,
            fileBytes: statistics.engine.byteCount, engine: Engine(statistics.engine.kind),
            engineVersion: statistics.engine.version, standby: statistics.engine.standby.map { Standby($0) },
            isSQLiteAffectedByWALReset: statistics.engine.canLoseCommits,
            sodiumVersion: statistics.sodiumVersion, lockedMemory: memory)
    }
}

extension VaultStatus.Engine {
    init(_ kind: EngineReport.Kind) {
        self =
            switch kind {
            case .sqlite: .sqlite
            case .postgreSQL: .postgreSQL
            case .memory: .memory
            }
    }
}

extension VaultStatus.Standby {
    init(_ standby: EngineReport.Standby) {
        self =
            switch standby {
            case .none: .none
            case .asynchronous: .asynchronous
            case .synchronous: .synchronous
            }
    }
}

extension VerificationReport {
    init(_ report: VaultStorage.VerificationReport) {
        self.init(
            users: report.users, logins: report.logins, providers: report.providers, cells: report.cells,
            auditEntries: report.auditRows, findingCount: report.findingCount,
            findings: report.findings.map {
                VerificationFinding(subject: $0.place, handle: $0.subject, problem: $0.reason)
            })
    }
}
