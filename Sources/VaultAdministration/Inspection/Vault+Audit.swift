import FoundationEssentials
package import TokenVault
import VaultCrypto
import VaultStorage

extension Vault {
    /// Rows of the audit trail after this one, the oldest first. Each is checked against the chain.
    ///
    /// - Parameters:
    ///   - sequence: ``AuditRecords/next`` of the previous page, or 0.
    ///   - query: The selection of rows. Excluded rows still count for the chain.
    ///   - limit: How many at most; a page may be shorter even if there is a next one.
    package func auditRecords(
        after sequence: Int64, _ query: AuditQuery = .init(), limit: Int = 1_000
    ) async throws -> AuditRecords {
        try await auditRecords(.after(sequence), query, limit)
    }

    /// The same before this one, the newest first.
    package func auditRecords(
        before sequence: Int64, _ query: AuditQuery = .init(), limit: Int = 1_000
    ) async throws -> AuditRecords {
        try await auditRecords(.before(sequence), query, limit)
    }

    private func auditRecords(
        _ direction: AuditDirection, _ query: AuditQuery, _ limit: Int
    ) async throws -> AuditRecords {
        try await VaultError.translating {
            let filter = try await filter(query)
            let page = try await store.audit(filter, direction, limit: limit)
            let names = await providerNames(of: page.rows.compactMap { $0.entry.provider ?? $0.entry.loginProvider })
            return AuditRecords(records: page.rows.map { AuditRecord($0, names) }, next: page.next)
        }
    }

    private func filter(_ query: AuditQuery) async throws -> AuditFilter {
        var filter = AuditFilter()
        if let handle = query.userHandle {
            guard let user = UserHandle(text: handle) else {
                let isWhole =
                    handle.utf8.count == 26
                    && handle.utf8.allSatisfy {
                        (0x61...0x7A).contains($0) || (0x32...0x37).contains($0)
                    }
                // Of 32 last letters, 28 end no handle: a typing error.
                throw VaultError(
                    isWhole ? .unknownUser : .invalidArgument,
                    isWhole
                        ? "no user has the handle \(handle), and none had"
                        : "this is not the handle of a user, which has 26 letters and digits",
                    hint: "rows of the audit log show it: vaultctl audit list")
            }
            filter.user = user
        }
        if let id = query.userId { filter.user = try await store.user(id).handle }
        if let name = query.provider { filter.provider = try await store.provider(named: name).handle }
        filter.login = query.login?.handle
        filter.since = query.since.map { Timestamp($0) }
        filter.until = query.until.map { Timestamp($0) }
        for kind in query.kinds {
            guard let known = AuditKind(name: kind) else {
                throw VaultError(.invalidArgument, "the audit trail has no rows of the kind \(kind.debugDescription)")
            }
            filter.kinds.insert(known)
        }
        return filter
    }

    /// Rows of the audit trail up to this one were pruned, except those that had to stay; 0: none.
    package func auditPrunedThrough() async throws -> Int64 {
        try await VaultError.translating { try await store.trailPruning().through }
    }

    /// Checks the whole audit trail, and that no user, no provider and not the vault's own row are older than it
    /// records. Memory stays bounded, and all other work continues.
    package func verifyAudit(
        progress: @escaping @Sendable (_ checked: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws -> AuditReport {
        try await VaultError.translating {
            AuditReport(try await store.verifyAudit { progress($0.checked, $0.total) })
        }
    }

    /// Returns the ids of users, by the random names in rows of the audit trail. The trail records that they are shown,
    /// before it happens. Users that are gone are left out.
    ///
    /// - Parameter purpose: The reason for showing the ids; it is recorded.
    package func resolveUsers(purpose: String) async throws -> AuditNames {
        try await VaultError.translating {
            try await store.record(AuditEvent(.usersResolved, [.init(AuditEvent.Detail.Key.purpose, purpose)]))
        }
        return AuditNames(vault: self)
    }

    // MARK: Pruning

    /// Removes rows of the audit trail that have exceeded their retention. The rest can still be verified: the last row
    /// of each user, of each provider and of the vault is kept, and a row records the removal.
    ///
    /// It removes a few hundred rows at a time and pauses in between: writers hardly notice it. Cancelling the task
    /// ends it between two steps.
    ///
    /// - Parameters:
    ///   - retention: How long rows are kept, and how many at least.
    ///   - includesDamaged: Whether rows that do not continue the chain may be removed. Otherwise the call fails with
    ///   ``VaultError/Code/quarantined``: the manipulation of the trail would no longer show.
    ///   - progress: Called after each step with how many rows it has removed so far.
    @discardableResult
    package func pruneAudit(
        _ retention: AuditRetention = .standard, includesDamaged: Bool = false,
        progress: @escaping @Sendable (_ removed: Int64) -> Void = { _ in }
    ) async throws -> AuditPruning {
        AuditPruning(try await prune(limits(retention, includesDamaged), for: nil, progress))
    }

    /// The results that ``pruneAudit(_:includesDamaged:progress:)`` would have now.
    package func prunableAudit(
        _ retention: AuditRetention = .standard, includesDamaged: Bool = false
    ) async throws -> AuditPruning {
        try await VaultError.translating {
            AuditPruning(try await store.prunable(limits(retention, includesDamaged)))
        }
    }
}

/// The ids of users, by their random names in rows of the audit trail. See ``Vault/resolveUsers(purpose:)``.
package struct AuditNames: Sendable {
    private let vault: Vault

    fileprivate init(vault: Vault) { self.vault = vault }

    /// Nil: there is no such user, or no longer.
    package func userId(of handle: String) async throws -> String? {
        guard let user = UserHandle(text: handle) else { return nil }
        do throws(StoreError) {
            return try await vault.store.userId(of: user)
        } catch {
            if error.code == .notFound(.user) { return nil }
            throw VaultError(error)
        }
    }
}

extension AuditRecord {
    init(_ listing: AuditListing, _ names: [ProviderHandle: String]) {
        let entry = listing.entry
        self.init(
            sequence: entry.sequence, date: entry.time.date, kind: entry.kind.name, userHandle: entry.user?.text,
            login: entry.login.map { LoginID($0) },
            provider: (entry.provider ?? entry.loginProvider).map { names[$0] ?? $0.text },
            actor: entry.actor.map { VaultOptions.Actor($0) },
            revision: entry.revision,
            details: entry.detail.map { Detail(name: $0.key, value: $0.value) },
            state: entry.look?.state.map { SessionState($0) }, generation: entry.look?.generation,
            pruning: entry.pruning.map {
                Pruning(first: $0.first, through: $0.through, removed: $0.removed, kept: $0.kept)
            },
            link: entry.damage == nil ? listing.link?.array : nil, damage: entry.damage?.message)
    }

    /// The words for ``kind`` that this version knows.
    package static let kinds: [String] = AuditKind.all.map(\.name)
}

extension AuditPruning {
    init(_ rows: PrunedRows) {
        self.init(removed: rows.removed, kept: rows.kept, damaged: rows.damaged, through: rows.through)
    }
}

extension AuditReport {
    init(_ report: VerificationReport) {
        self.init(
            entries: report.auditRows, headSequence: report.trailHead.sequence,
            headLink: report.trailHead.link.array, prunedThrough: report.prunedThrough,
            findingCount: report.findingCount,
            findings: report.findings, isOnlyRolledBack: report.isOnlyRolledBack)
    }
}
