import VaultCrypto
import VaultMigrations

/// A full check of a vault, in batches: each batch sees one state of it, and between them writers and checkpoints go on.
/// What is damaged is told, and left as it is.
struct Verification {
    static let batch = 500

    let reader: Reader
    var report = VerificationReport()
    /// The last revision that the audit trail tells of each provider.
    var providerRevisions: [ProviderHandle: Int64] = [:]
    /// Users that are gone although rows tell of them: right only if the trail says that they were erased.
    var erased: Set<UserHandle> = []
    private var checked = 0
    private var total = 0

    init(_ reader: Reader) { self.reader = reader }

    func run(_ progress: (VerificationProgress) -> Void) throws(StoreError) -> VerificationReport {
        var copy = self
        return try copy.check(progress)
    }

    private mutating func check(_ progress: (VerificationProgress) -> Void) throws(StoreError) -> VerificationReport {
        total = try reader.count("user") + reader.count("audit")
        // A damaged page ends a table's scan; the other tables are still looked at.
        do throws(StoreError) { try checkFile() } catch { try unreadable("file", error) }
        do throws(StoreError) { try checkSmallTables() } catch { try unreadable("file", error) }
        do throws(StoreError) { try checkUsers(progress) } catch { try unreadable("user", error) }
        do throws(StoreError) { try checkAuditTrail(progress) } catch { try unreadable("audit", error) }
        do throws(StoreError) { try checkProviders() } catch { try unreadable("provider", error) }
        return report
    }

    mutating func found(_ place: String, _ subject: String?, _ reason: String) {
        report.findingCount += 1
        guard report.findings.count < VerificationReport.findingLimit else { return }
        report.findings.append(.init(place: place, subject: subject, reason: reason))
    }

    /// Damage is a finding; that the file cannot be read at all is not.
    private mutating func unreadable(_ place: String, _ error: StoreError) throws(StoreError) {
        guard error.code == .damaged else { throw error }
        found(place, nil, "a part of the table cannot be read: \(error.reason)")
    }

    mutating func found(_ error: StoreError, _ place: String, _ subject: String?) {
        if case .quarantined(let table, let handle) = error.code {
            found(table, handle ?? subject, error.reason)
        } else {
            found(place, subject, error.reason)
        }
    }

    mutating func advance(by count: Int, _ progress: (VerificationProgress) -> Void) {
        checked += count
        progress(VerificationProgress(checked: checked, total: max(total, checked)))
    }

    /// What SQLite itself finds wrong with the file, and rows that point nowhere.
    private mutating func checkFile() throws(StoreError) {
        let integrity = try Statement(reader.connection, "PRAGMA integrity_check(100)")
        while try integrity.step() {
            let text = integrity.text(0)
            if text != "ok" { found("file", nil, "SQLite's integrity check: \(text)") }
        }
        let foreign = try Statement(reader.connection, "PRAGMA foreign_key_check")
        while try foreign.step() {
            found(
                foreign.text(0), "row \(foreign.integer(1))", "it points to a row of \(foreign.text(2)) that is missing"
            )
        }
        do throws(StoreError) { try VaultSchema.check(reader.connection) } catch { found("file", nil, error.reason) }
        try checkMigrations()
    }

    private mutating func checkMigrations() throws(StoreError) {
        var missing = Dictionary(uniqueKeysWithValues: Migrations.all.map { ($0.version, $0) })
        let rows = try Statement(reader.connection, "SELECT version, name, checksum FROM migration")
        while try rows.step() {
            let version = Int(rows.integer(0))
            let known = missing.removeValue(forKey: version)
            if known?.name != rows.text(1) || known?.checksum != rows.integer(2) {
                found("migration", "\(version)", "it is not what this program applied")
            }
        }
        for version in missing.keys.sorted() { found("migration", "\(version)", "its row is missing") }
    }
}
