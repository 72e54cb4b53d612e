import VaultStorage

extension UserManager {
    /// Disables a user: their chains end, the grants are revoked, and they get no token until they have been enabled
    /// and have logged in again.
    ///
    /// A login that cannot be opened stays as it is: the report says that its grant was not revoked, and a disabled
    /// user gets no token from it.
    @discardableResult
    public func disableUser(_ userId: String) async throws -> RevocationReport {
        let userId = try names.user(userId)
        let styles = await revocationStyles(ofUser: userId.text)
        let now = vault.now
        let plans = try await updateUser(userId) { state in
            guard state.status == .active else { return [RevocationPlan]() }
            state.status = .disabled
            state.auditEvents.append(AuditEvent(.userDisabled))
            let damaged = state.damagedLogins.map { RevocationPlan(unreadable: $0) }
            return damaged
                + state.logins.indices.compactMap { index in
                    guard state.logins[index].session.state != .terminated else { return nil }
                    let plan = state.logins[index].planRevocation(styles, now: now)
                    state.logins[index].outbox += plan.records
                    state.logins[index].terminate(.userDisabled)
                    return plan
                }
        }
        return await finish(plans)
    }

    /// Lets a disabled user log in again. The logins that were ended stay ended.
    public func enableUser(_ userId: String) async throws {
        let userId = try names.user(userId)
        try await updateUser(userId) { state in
            guard state.status != .active else { return }
            state.status = .active
            state.auditEvents.append(AuditEvent(.userEnabled))
        }
    }

    /// Erases a user: the key of everything that is sealed for them is destroyed, and their rows with it. Their grants
    /// are revoked, and log-ins that they have begun can no longer be completed. The vault's files may still hold earlier,
    /// sealed states of the rows for a while. Backups made before still hold what they hold.
    ///
    /// Damaged rows are discarded, the user's own row too, and the report names the logins whose grants could
    /// not be revoked for that reason: ``RevocationReport/Outcome/unreadable``.
    @discardableResult
    public func eraseUser(_ userId: String) async throws -> RevocationReport {
        let userId = try names.user(userId)
        let styles = await revocationStyles(ofUser: userId.text)
        let now = vault.now
        do {
            let plans = try await updateUser(userId) { state in
                let plans = state.logins.map { $0.planRevocation(styles, now: now) }
                state.outbox += plans.flatMap(\.records)
                state.isErased = true
                return plans + state.damagedLogins.map { RevocationPlan(unreadable: $0) }
            }
            return await finishErasure(plans)
        } catch let error as VaultError where error.code == .quarantined {
            return try await discardUser(userId.text)
        } catch let error as VaultError where error.code == .unknownUser {
            // They may have begun a first log-in.
            guard try await VaultError.translating({ try await vault.store.eraseNewcomer(userId.text) }) else {
                throw error
            }
            return await finishErasure([])
        }
    }

    private func discardUser(_ userId: String) async throws -> RevocationReport {
        let discarded = try await VaultError.translating { try await vault.store.discardDamagedUser(userId) }
        return await finishErasure(discarded.logins.map { RevocationPlan(unreadable: $0) })
    }

    private func finishErasure(_ plans: [RevocationPlan]) async -> RevocationReport {
        // Providers may take long, and the revocations leave traces of their own.
        _ = await vault.store.removeRemnants()
        var report = await finish(plans)
        report.remnants = RevocationReport.Remnants(await vault.store.removeRemnants())
        return report
    }

    private func updateUser<R: Sendable>(
        _ userId: QualifiedUserID, _ body: @escaping @Sendable (inout UserState) throws -> R
    ) async throws -> R {
        try await VaultError.translating { try await vault.change(user: userId.text, body) }
    }
}
