import OAuthClient
import Synchronization
import VaultStorage

extension Vault {
    /// Changes a provider: its endpoints, our registration there, its secrets or its profile. It takes effect
    /// immediately, in every process. A provider that got no requests because it refused our client is asked again.
    ///
    /// Grants belong to one client at one server. A change of the client id, of the issuer, or of where refresh tokens go is
    /// refused while logins hold refresh tokens from there, and while revocations still have to be confirmed there: they
    /// would be sent to a server that never issued them. A token endpoint may move at the same origin if the issuer is known
    /// and stays the same.
    ///
    /// The change, with what was before, is in the audit trail; secrets are not.
    ///
    /// - Parameters:
    ///   - name: The provider's name in this vault, or within the tenant.
    ///   - tenant: The provider's tenant; nil: none.
    ///   - change: The new values; the rest stays as it is.
    ///   - force: Changes it even if logins can no longer be renewed, or revocations no longer be confirmed.
    /// - Returns: The provider as it is now.
    /// - Throws: ``VaultError``, for a refused change ``VaultError/Code/inUse``.
    @discardableResult
    public func updateProvider(
        named name: String, of tenant: Tenant? = nil, _ change: ProviderChange, force: Bool = false
    ) async throws -> Provider {
        let scope = TenantScope(tenant: tenant)
        return scope.plain(try await changeProvider(named: scope.provider(name), change, force: force).current)
    }

    /// The same, and returns the changes.
    ///
    /// - Parameter expected: The result of ``previewProviderUpdate(named:_:)`` that a person agreed to. If the change
    ///   would now do anything else, nothing is changed, and the call throws ``VaultError/Code/conflict``.
    @discardableResult
    package func changeProvider(
        named name: String, _ change: ProviderChange, force: Bool = false, expecting expected: ProviderUpdate? = nil
    ) async throws -> ProviderUpdate {
        try await refuseSharing(after: change, of: name)
        return try await updateRecord(of: name) { record, dependents in
            let update = try record.update(change, dependents, now: self.now)
            guard expected == nil || expected == update else {
                throw VaultError(
                    .conflict, "the provider was changed by another process meanwhile",
                    hint: "look again what would change")
            }
            guard force || !update.orphansAnything else { throw VaultError(refused: update) }
            return (update, update.orphansAnything ? [.init(AuditEvent.Detail.Key.forced, "true")] : [])
        }
    }

    /// The effect of ``changeProvider(named:_:force:expecting:)``, whether or not it has to be forced. Writes nothing.
    package func previewProviderUpdate(named name: String, _ change: ProviderChange) async throws -> ProviderUpdate {
        do {
            return try await updateRecord(of: name) { record, dependents in
                throw Preview(update: try record.update(change, dependents, now: self.now))
            }
        } catch let preview as Preview {
            return preview.update
        }
    }

    private func updateRecord(
        of name: String,
        _ body:
            @escaping @Sendable (inout ProviderRecord, Dependents) throws -> (
                ProviderUpdate, told: [AuditEvent.Detail]
            )
    ) async throws -> ProviderUpdate {
        try await VaultError.translating {
            let handle = try await store.provider(named: name).handle
            let revocations = try await revocationsWaiting(for: handle)
            let made = Mutex<ProviderUpdate?>(nil)
            _ = try await store.updateProvider(handle) { record, use in
                let (update, told) = try body(
                    &record, Dependents(refreshableLogins: use.refreshableLogins, revocations: revocations))
                made.withLock { $0 = update }
                return told
            }
            guard let update = made.withLock({ $0 }) else {
                throw VaultError(.conflict, "the provider was not changed")
            }
            return update
        }
    }

    /// Whether any login is at this provider, which cannot be removed then.
    package func hasLogins(atProvider name: String) async throws -> Bool {
        try await VaultError.translating { try await store.hasLogins(of: store.provider(named: name).handle) }
    }

    /// How many revocations wait for this provider to confirm them.
    package func revocationsWaiting(forProvider name: String) async throws -> Int {
        try await VaultError.translating {
            try await revocationsWaiting(for: store.provider(named: name).handle)
        }
    }

    /// How many revocations of this user's tokens wait for a provider to confirm them, also after the user was erased.
    ///
    /// - Parameter handle: The user's name in the audit trail.
    package func revocationsWaiting(ofUser handle: String) async throws -> Int {
        guard let user = UserHandle(text: handle) else { return 0 }
        return try await VaultError.translating { try await revocationsWaiting { $0.user == user } }
    }

    func revocationsWaiting(for provider: ProviderHandle) async throws(StoreError) -> Int {
        try await revocationsWaiting { $0.provider == provider }
    }

    private func revocationsWaiting(where isWanted: (OutboxRecord) -> Bool) async throws(StoreError) -> Int {
        var count = 0
        var last: Int64?
        while true {
            let page = try await store.outbox(after: last, limit: 256)
            count += page.count { $0.entry.map { isWanted($0.record) } ?? false }
            guard page.count == 256, let sequence = page.last?.sequence else { return count }
            last = sequence
        }
    }
}

/// Thrown to leave the transaction without a change.
private struct Preview: Error {
    let update: ProviderUpdate
}

/// The logins and revocations that a change may cut off from their server.
private struct Dependents: Sendable {
    let refreshableLogins: Int
    let revocations: Int
}

extension ProviderUpdate {
    fileprivate var orphansAnything: Bool { orphanedLogins > 0 || orphanedRevocations > 0 }
}

extension VaultError {
    fileprivate init(refused update: ProviderUpdate) {
        let (logins, revocations) = (update.orphanedLogins, update.orphanedRevocations)
        let parts = [
            logins == 0 ? nil : "\(logins) login\(logins == 1 ? "" : "s")",
            revocations == 0 ? nil : "\(revocations) pending revocation\(revocations == 1 ? "" : "s")",
        ].compactMap { $0 }.joined(separator: " and ")
        let isRemoved = logins == 0 && update.current.revocationEndpoint == nil
        self.init(
            .inUse,
            isRemoved
                ? "\(parts) could no longer be sent" : "\(parts) would be sent to another server or as another client",
            hint: (revocations == 0 ? "" : "retry the pending revocations first; ")
                + (isRemoved
                    ? "or force the change, which gives them up"
                    : "add it as a new provider, or force the change if it is the same server under another name"))
    }
}

extension ProviderRecord {
    fileprivate mutating func update(
        _ change: ProviderChange, _ dependents: Dependents, now: Timestamp
    ) throws -> ProviderUpdate {
        let previous = self
        try apply(change, now: now)
        return ProviderUpdate(
            previous: try Provider(previous), current: try Provider(self),
            changes: changes(from: previous).map {
                .init(field: $0.field, previous: $0.previous, current: $0.current)
            },
            orphanedLogins: takesRefreshTokens(of: previous) ? 0 : dependents.refreshableLogins,
            orphanedRevocations: takesRevocations(of: previous) ? 0 : dependents.revocations)
    }

    /// Whether refresh tokens that `old` issued to its client are at home here.
    fileprivate func takesRefreshTokens(of old: ProviderRecord) -> Bool {
        isSameClient(as: old) && isSamePlace(refreshAddress, old.refreshAddress, of: old)
    }

    fileprivate func takesRevocations(of old: ProviderRecord) -> Bool {
        guard let address = old.revocationEndpoint else { return true }
        guard let revocationEndpoint else { return false }
        return isSameClient(as: old) && isSamePlace(revocationEndpoint, address, of: old)
    }

    /// An issuer that was not known before may be learnt.
    private func isSameClient(as old: ProviderRecord) -> Bool {
        clientID == old.clientID && (issuer == old.issuer || old.issuer == nil)
    }

    private func isSamePlace(_ new: String, _ previous: String, of old: ProviderRecord) -> Bool {
        if new == previous { return true }
        guard let issuer, issuer == old.issuer else { return false }
        let origins = [new, previous].map { (try? EndpointURL(stored: $0))?.origin }
        return origins[0] != nil && origins[0] == origins[1]
    }

    private var refreshAddress: String { (try? profile.endpoints.refresh)?.rawValue ?? tokenEndpoint }
}
