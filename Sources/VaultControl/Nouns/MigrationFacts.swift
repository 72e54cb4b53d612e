import TokenVault

/// How the versions of a vault are shown.
enum MigrationFacts {
    static func status(_ access: VaultAccess) throws -> MigrationStatus {
        try Vault.migrationStatus(at: access.path, trustsFileSystem: access.trustsFileSystem)
    }

    static func json(_ snapshot: MigrationStatus.Snapshot) -> JSONValue {
        .object([
            ("path", .string(snapshot.path)), ("schemaVersion", .integer(snapshot.schemaVersion)),
            ("madeAt", Instant.json(snapshot.madeAt)), ("bytes", .integer(Int(snapshot.byteCount))),
        ])
    }

    static func emit(_ steps: [MigrationStatus.Step], of status: MigrationStatus, _ invocation: Invocation) throws {
        var table = Table("VERSION", "STEP", "APPLIED")
        for step in steps {
            let applied = step.appliedAt.map { Instant.words($0, now: invocation.now) } ?? "no"
            table.append(String(step.version), step.name, applied)
        }
        try invocation.emit(
            json: .object([
                ("schemaVersion", .integer(status.schemaVersion)), ("newestVersion", .integer(status.newestVersion)),
                (
                    "steps",
                    .array(
                        steps.map { step in
                            .object([
                                ("version", .integer(step.version)), ("name", .string(step.name)),
                                ("appliedAt", Instant.json(step.appliedAt)),
                            ])
                        })
                ),
                ("snapshots", .array(status.snapshots.map { json($0) })),
            ]),
            text: steps.isEmpty ? "" : table.text(isTerminal: invocation.isTerminal, style: invocation.style))
    }
}
