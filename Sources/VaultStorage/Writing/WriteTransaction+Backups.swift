import VaultCrypto

extension WriteTransaction {
    /// Records a backup that exists, or that is about to.
    package func note(_ backup: BackupRecord) throws(StoreError) {
        try put(backup)
        guard backup.finishedAt != nil else { return }
        try audit(AuditEvent(.backupMade, [.init("backup", backup.handle.text)]), about: AuditSubject())
    }

    func put(_ backup: BackupRecord) throws(StoreError) {
        guard backup.path.utf8.count <= BackupRecord.pathLimit else {
            throw StoreError(.invalidValue, "a backup's path has at most \(BackupRecord.pathLimit) bytes")
        }
        let put = try tables.cursor(.putBackup)
        put.bind(1, backup.handle.bytes)
        put.bind(2, backup.madeAt.milliseconds)
        put.bind(3, backup.finishedAt?.milliseconds)
        put.bind(4, backup.auditSequence)
        put.bind(5, backup.byteCount)
        put.bind(6, backup.path)
        put.bind(7, backup.recipientText)
        put.bind(8, backup.mac(context.vaultID, rows.keyring))
        try put.run()
    }

    /// Removes the record of a backup that left no file. The trail does not mention it either.
    package func withdraw(_ backup: BackupHandle) throws(StoreError) { try delete(backup) }

    /// Removes a backup from the vault's list. Its file is not touched.
    package func forget(_ backup: BackupHandle) throws(StoreError) {
        try delete(backup)
        guard tables.changeCount == 1 else { throw .notFound(.backup) }
        try audit(AuditEvent(.backupForgotten, [.init("backup", backup.text)]), about: AuditSubject())
    }

    private func delete(_ backup: BackupHandle) throws(StoreError) {
        let delete = try tables.cursor(.deleteBackup)
        delete.bind(1, backup.bytes)
        try delete.run()
    }
}

extension Query {
    fileprivate static let putBackup = insert(
        into: .backup, "handle", "madeAt", "finishedAt", "auditSequence", "byteCount", "path", "recipients", "mac",
        onConflict: .updates(by: "handle"))

    fileprivate static let deleteBackup = delete(from: .backup, where: [.equal(Table.backup["handle"], 1)])
}
