import FoundationEssentials
import TokenVault
import VaultAdministration

/// How a vault's schema versions are displayed.
enum MigrationView {
    static func status(_ access: VaultAccess) throws -> MigrationStatus {
        let location = try access.location
        let origin = try access.vaultPlace.origin
        do { try access.requireFile() } catch let failure as Failure {
            throw failure.notSuggestingInit("check \(origin); a new vault needs no migration")
        }
        return try access.explaining(access.vaultPlace, access.keyInUse) {
            try Vault.migrationStatus(in: location, trustsFileSystem: access.trustsFileSystem)
        }
    }

    static func record(_ snapshot: MigrationStatus.Snapshot) -> OutputRecord {
        [
            .data("path", snapshot.path), .data("schemaVersion", snapshot.schemaVersion),
            .data("madeAt", snapshot.madeAt), .data("bytes", Int(snapshot.byteCount)),
        ]
    }

    private static func record(_ step: MigrationStatus.Step, now: Date) -> OutputRecord {
        [
            Field("version", step.version).column("VERSION"), Field("name", step.name).column("STEP"),
            Field("appliedAt", step.appliedAt)
                .column("APPLIED", step.appliedAt.map { Instant.words($0, now: now) } ?? "no", inPipe: step.appliedAt),
        ]
    }

    static func emit(_ steps: [MigrationStatus.Step], of status: MigrationStatus, _ invocation: Invocation) throws {
        let steps = steps.map { record($0, now: invocation.now) }
        try invocation.emit(
            OutputRecord([
                .data("schemaVersion", status.schemaVersion), .data("newestVersion", status.newestVersion),
                .data("steps", steps), .data("snapshots", status.snapshots.map(record)),
            ]), text: invocation.text(Table(["VERSION", "STEP", "APPLIED"], steps)))
    }
}
