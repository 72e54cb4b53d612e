package import TokenVault
import VaultStorage

extension Vault {
    /// Logins that may be exported, in the order of their ids.
    ///
    /// - Parameters:
    ///   - userId: nil for all users.
    ///   - provider: The name of the provider; nil for all.
    ///   - id: ``ExportPage/last`` of the previous page; nil for the first.
    package func loginsToExport(
        ofUser userId: String?, provider: String?, after id: LoginID?, limit: Int
    ) async throws -> ExportPage {
        let userId = try userId.map { try ArgumentCheck.userId($0) }
        let wanted = try await handle(ofProvider: provider)
        return try await VaultError.translating {
            let listings = try await store.logins(ofUser: userId, after: id?.handle, limit: limit)
            let now = now
            var records: [ProviderHandle: ProviderRecord] = [:]
            var candidates: [ExportCandidate] = []
            for listing in listings {
                guard let login = listing.login else {
                    candidates.append(.damaged(LoginID(listing.handle)))
                    continue
                }
                if let wanted, login.provider != wanted { continue }
                if let provider = login.provider, records[provider] == nil {
                    records[provider] = try await readableProvider(provider)
                }
                let record = login.provider.flatMap { records[$0] }
                guard record != nil || login.provider == nil else {
                    candidates.append(.damaged(LoginID(listing.handle)))
                    continue
                }
                candidates.append(
                    .login(
                        ExportableLogin(
                            stored: login, provider: record?.name ?? "", clientID: record?.clientID ?? "", now: now)))
            }
            return ExportPage(candidates: candidates, last: listings.last.map { LoginID($0.handle) })
        }
    }

    /// Nil: its row is damaged, so another system would not know which provider its logins belong to.
    private func readableProvider(_ provider: ProviderHandle) async throws(StoreError) -> ProviderRecord? {
        do throws(StoreError) {
            return try await store.provider(provider).record
        } catch {
            guard error.isDamage else { throw error }
            return nil
        }
    }

    /// Records that these logins are exported, and holds them unless this vault stays their owner: in one transaction,
    /// before any of their data may be written anywhere.
    ///
    /// - Parameters:
    ///   - shape: The form, for the audit trail.
    ///   - owner: The owner of the chains from now on; nil for this vault.
    /// - Returns: Those that are still as they were read. The others are not changed.
    package func export(
        _ logins: [ExportableLogin], as shape: String, to owner: String?, repeats: Bool
    ) async throws -> Set<LoginID> {
        try requireOpen()
        let owner = try owner.map { try ArgumentCheck.source($0) }
        let revisions = Dictionary(uniqueKeysWithValues: logins.map { ($0.stored.handle, $0.stored.revision) })
        let now = now
        return try await VaultError.translating {
            let results = try await store.updateEach(logins.map(\.stored.handle)) { state in
                guard state.revision == revisions[state.handle],
                    state.exportObstacle(owner: owner, repeats: repeats, now: now) == nil
                else { return false }
                // A login that already belongs to this owner is not changed.
                if let owner, !state.session.isHeldBySource { state.returnToSource(owner, now: now) }
                state.auditEvents.append(AuditEvent(.loginExported, Self.details(shape, owner)))
                return true
            }
            return Set(results.filter(\.value).map { LoginID($0.login) })
        }
    }

    private static func details(_ shape: String, _ owner: String?) -> [AuditEvent.Detail] {
        let shape = AuditEvent.Detail("shape", shape)
        return owner.map { [shape, .init(AuditEvent.Detail.Key.source, $0)] } ?? [shape, .init("copy", "true")]
    }
}
