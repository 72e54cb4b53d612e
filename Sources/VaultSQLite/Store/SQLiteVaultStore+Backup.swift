import Platform
package import VaultStorage

extension SQLiteVaultStore {
    package func backUp(
        _ plan: BackupPlan, _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws -> BackupRecord {
        try database.liveness.check()
        if let readOnlyRefusal { throw readOnlyRefusal }
        try place.checkDatabase()
        let copy = try await BlockingLane.care.run { [database, context] in
            try VaultCopy(plan, of: database, context, now: context.now, progress)
        }
        // Recorded before the file has its name: a backup that the vault does not know would be missed when a user is
        // erased.
        try await settleUnfinished()
        try await write { try $0.note(copy.record) }
        plan.onStep(.noted)
        var record = copy.record
        do {
            try await BlockingLane.care.run { try copy.finish() }
        } catch {
            let handle = record.handle
            try await write { try $0.withdraw(handle) }
            throw error
        }
        plan.onStep(.named)
        record.finishedAt = context.now
        let finished = record
        try await write { try $0.note(finished) }
        return finished
    }

    package func pathOfBackup(_ plan: BackupPlan) throws(StoreError) -> String {
        let source = try database.connect()
        try source.prepareForInspection()
        defer { source.close() }
        return try VaultCopy.place(of: plan, source, database, context.now).target.path
    }

    /// Settles backups whose process was killed: a file with its name is a backup, one without never will be.
    private func settleUnfinished() async throws {
        let unfinished = try await backups().compactMap(\.record).filter {
            $0.finishedAt == nil && context.now.since($0.madeAt) > .seconds(3_600)
        }
        for var record in unfinished {
            if let backup = try? BackupFile(at: record.path), backup.manifest.backup == record.handle {
                record.finishedAt = record.madeAt
                let finished = record
                try await write { try $0.note(finished) }
            } else if FileIdentity(path: record.path) == nil {
                let handle = record.handle
                try await write { try $0.withdraw(handle) }
            }
        }
    }
}
