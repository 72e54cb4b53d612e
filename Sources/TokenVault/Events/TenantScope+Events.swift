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

    /// The event with its tenant and the names within it; nil if it concerns another tenant than the scope's, or none. Missed
    /// events, and providers that belong to no tenant, concern all.
    func plain(_ event: SessionEvent) -> SessionEvent? {
        let event = event.withTenant
        guard let tenant else { return event }
        switch event.kind {
        case .providerStopped(let name, _), .providerResumed(let name), .providerDrifted(let name):
            let isOfNone = event.tenant == nil && !Tenant.isQualified(name)
            return event.tenant == tenant || isOfNone ? event : nil
        case .missed: return event
        case .error where event.login == nil: return event
        default: return event.tenant == tenant ? event : nil
        }
    }
}

extension SessionEvent {
    /// An event with names as the vault has them, of which the tenant is taken.
    fileprivate var withTenant: SessionEvent {
        var event = self
        if let userId { (event.tenant, event.userId) = Self.parts(of: userId) }
        switch kind {
        case .providerStopped(let name, let ended):
            let parts = Self.parts(of: name)
            (event.tenant, event.kind) = (parts.tenant, .providerStopped(name: parts.name, ended: ended))
        case .providerResumed(let name):
            let parts = Self.parts(of: name)
            (event.tenant, event.kind) = (parts.tenant, .providerResumed(name: parts.name))
        case .providerDrifted(let name):
            let parts = Self.parts(of: name)
            (event.tenant, event.kind) = (parts.tenant, .providerDrifted(name: parts.name))
        default: break
        }
        return event
    }

    private static func parts(of name: String) -> (tenant: Tenant?, name: String) {
        Tenant.of(name).map { ($0.tenant, $0.userId) } ?? (nil, name)
    }
}
