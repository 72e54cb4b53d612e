import VaultStorage

extension TenantScope {
    /// The logins that a subscriber asks for. An id that only looks like that of a tenant's user belongs to no user, so it has
    /// no events.
    func feed(_ session: SessionRef?) -> FeedScope {
        switch session?.choice {
        case nil: .all
        case .login(let id): .login(id.handle)
        case .user(let userId):
            if let tenant {
                .user(tenant.qualify(userId))
            } else {
                .user(ArgumentCheck.isForeign(userId) ? "" : userId)
            }
        }
    }

    /// The event with names within the tenant; nil if it concerns another tenant, or none. Missed events, and providers that
    /// belong to no tenant, concern all.
    func plain(_ event: SessionEvent) -> SessionEvent? {
        guard let tenant else { return event }
        var event = event
        switch event.kind {
        case .providerStopped(let name, let ended):
            guard let name = shown(name, tenant) else { return nil }
            event.kind = .providerStopped(name: name, ended: ended)
        case .providerResumed(let name):
            guard let name = shown(name, tenant) else { return nil }
            event.kind = .providerResumed(name: name)
        case .missed: break
        case .error where event.login == nil: break
        default:
            guard let userId = event.userId.flatMap({ tenant.plain($0) }) else { return nil }
            event.userId = userId
        }
        return event
    }

    private func shown(_ name: String, _ tenant: Tenant) -> String? {
        tenant.plain(name) ?? (Tenant.isQualified(name) ? nil : name)
    }
}
