package import FoundationEssentials
package import TokenVault
package import VaultCrypto
package import VaultStorage

extension Vault {
    /// Whether any other system owns logins of the vault.
    package func hasImports() async throws -> Bool {
        try await VaultError.translating {
            try await !store.loginsHeldBySource(of: nil, after: nil, limit: 1).logins.isEmpty
        }
    }

    /// A page of the logins that a source owns and was seen to have.
    ///
    /// - Parameter row: Where the previous page ended; nil for the first.
    package func ownedBySource(
        _ source: String, after row: Int64?, limit: Int
    ) async throws -> (logins: [(login: LoginHandle, row: Bytes16)], next: Int64?) {
        try await VaultError.translating {
            let page = try await store.loginsHeldBySource(of: nil, after: row, limit: limit)
            var logins: [(login: LoginHandle, row: Bytes16)] = []
            for login in page.logins {
                // One that cannot be opened is found by `verify`, and no import accepts it.
                guard let origin = try? await store.login(login).session.origin, origin.source == source,
                    origin.owner == .source, !origin.isMissing
                else { continue }
                logins.append((login, origin.row))
            }
            return (logins, page.next)
        }
    }

    /// Marks logins that the source of an import no longer has.
    ///
    /// - Returns: How many were not marked before.
    package func missImported(_ logins: [LoginHandle], from source: String) async throws -> Int {
        try await VaultError.translating {
            try await store.updateEach(logins) { $0.missFromSource(source) }.count { $0.value }
        }
    }

    /// Records in the trail that a source was read to its end.
    package func record(_ reading: SourceReading, of source: String) async throws {
        try await VaultError.translating {
            try await store.record(AuditEvent(.sourceRead, reading.details(of: source)))
        }
    }

    /// The last complete readings of a source, the newest first.
    package func readings(of source: String, limit: Int) async throws -> [SourceReading] {
        var filter = AuditFilter()
        filter.kinds = [.sourceRead]
        var readings: [SourceReading] = []
        var before: Int64? = .max
        while let last = before, readings.count < limit {
            let page = try await VaultError.translating {
                try await store.audit(filter, .before(last), limit: 100)
            }
            readings += page.rows.compactMap { SourceReading($0.entry, of: source) }
            before = page.next
        }
        return Array(readings.prefix(limit))
    }
}

/// The results of a complete reading of a source.
package struct SourceReading: Sendable, Equatable {
    package var date: Date
    package var rows: Int
    package var added: Int
    package var followed: Int
    package var missing: Int

    package init(date: Date, rows: Int, added: Int, followed: Int, missing: Int) {
        self.date = date
        self.rows = rows
        self.added = added
        self.followed = followed
        self.missing = missing
    }

    /// Whether the source had not changed since the previous reading.
    package var isQuiet: Bool { changes == 0 }
    package var changes: Int { added + followed + missing }
}

extension SourceReading {
    private enum Key {
        static let rows = "rows"
        static let added = "added"
        static let followed = "followed"
        static let missing = "missing"
    }

    fileprivate func details(of source: String) -> [AuditEvent.Detail] {
        [
            .init(AuditEvent.Detail.Key.source, source), .init(Key.rows, String(rows)),
            .init(Key.added, String(added)), .init(Key.followed, String(followed)),
            .init(Key.missing, String(missing)),
        ]
    }

    fileprivate init?(_ entry: AuditEntry, of source: String) {
        func number(_ key: String) -> Int? { entry.value(key).flatMap { Int($0) } }
        guard entry.damage == nil, entry.value(AuditEvent.Detail.Key.source) == source, let rows = number(Key.rows),
            let added = number(Key.added), let followed = number(Key.followed), let missing = number(Key.missing)
        else { return nil }
        self.init(date: entry.time.date, rows: rows, added: added, followed: followed, missing: missing)
    }
}
