/// The schema is migrated without a key. So the first process with a key records the migrations in the audit trail.
extension WriteTransaction {
    package static func hasUnreportedMigrations(_ tables: any TableAccess) throws(StoreError) -> Bool {
        try tables.integer(.unreportedMigrationCount) ?? 0 > 0
    }

    /// Records all unrecorded migrations in one row, and creates the manifest of a vault that has none.
    package func auditMigrations() throws(StoreError) {
        let rows = try tables.cursor(.unreportedMigrations)
        var steps: [AuditEvent.Detail] = []
        while try rows.step() { steps.append(AuditEvent.Detail("step", rows.text(0))) }
        rows.reset()
        guard !steps.isEmpty || !self.rows.current.hasManifest else { return }
        let event = AuditEvent(.vaultMigrated, steps)
        if self.rows.current.hasManifest {
            try audit(event, about: AuditSubject())
        } else {
            let manifest = try collectManifest()
            try changeVault(event) { $0.manifest = manifest }
        }
        try markMigrationsAsTold()
    }

    /// Marks the migrations as recorded by the last row.
    func markMigrationsAsTold() throws(StoreError) {
        let update = try tables.cursor(.markMigrations)
        update.bind(1, head.sequence)
        try update.run()
    }
}

extension Query {
    private static let isUnreported = [Condition.isNull(Table.migration["auditSequence"])]

    fileprivate static let unreportedMigrationCount = select([.count], from: .migration, where: isUnreported)

    fileprivate static let unreportedMigrations = select(
        Table.migration.columns("name"), from: .migration, where: isUnreported, order: [.up(Table.migration["version"])]
    )

    fileprivate static let markMigrations = update(.migration, "auditSequence", where: isUnreported)
}
