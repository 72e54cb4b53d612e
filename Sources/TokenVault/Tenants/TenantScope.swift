import OAuthClient
import VaultStorage

/// How a caller names users and providers: within one tenant, or as a vault without tenants does. Names get their tenant here
/// and nowhere else.
package struct TenantScope: Hashable, Sendable {
    package static let whole = TenantScope(tenant: nil)

    let tenant: Tenant?

    package init(tenant: Tenant?) { self.tenant = tenant }

    /// The user's id in the vault.
    ///
    /// - Throws: ``VaultError/Code/invalidArgument`` for an empty or too long id, and outside a tenant for one that begins like
    ///   that of a tenant's user.
    func user(_ userId: String) throws -> QualifiedUserID {
        guard let tenant else { return QualifiedUserID(text: try ArgumentCheck.userId(userId)) }
        guard !userId.isEmpty else { throw VaultError(.invalidArgument, "the user id is empty") }
        return QualifiedUserID(text: try ArgumentCheck.qualifiedUserId(tenant.qualify(userId)))
    }

    /// The provider's name in the vault.
    func provider(_ name: String) -> String { tenant?.qualify(name) ?? name }

    /// The login, named as the vault names it.
    ///
    /// - Throws: As ``user(_:)``.
    func login(_ login: LoginRef) throws -> QualifiedLogin {
        let choice: QualifiedLogin.Choice =
            switch login.choice {
            case .login(let id): .login(id)
            case .user(let userId): .user(try user(userId))
            case .userAtProvider(let userId, let name): .userAtProvider(try user(userId), provider: provider(name))
            }
        return QualifiedLogin(choice: choice, scope: self)
    }

    /// Which logins a subscriber wants to hear of. An id that only looks like one of a tenant's user is nobody's: nothing
    /// happens to it.
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

    /// Whether a user of this id, as the vault has it, is one of the tenant.
    func has(_ userId: String) -> Bool { tenant.map { $0.plain(userId) != nil } ?? true }

    /// With names within the tenant.
    func plain(_ login: Login) -> Login {
        guard let tenant else { return login }
        var login = login
        login.userId = tenant.plain(login.userId) ?? login.userId
        login.provider = login.provider.map { tenant.plain($0) ?? $0 }
        return login
    }

    func plain(_ user: User) -> User {
        guard let tenant else { return user }
        var user = user
        user.id = tenant.plain(user.id) ?? user.id
        return user
    }

    func plain(_ provider: Provider) -> Provider {
        guard let tenant else { return provider }
        var provider = provider
        provider.name = tenant.plain(provider.name) ?? provider.name
        return provider
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

/// A login, named as the vault names it. ``TenantScope/login(_:)`` makes it of what a caller says.
struct QualifiedLogin: Sendable {
    enum Choice: Sendable {
        case login(LoginID)
        case user(QualifiedUserID)
        case userAtProvider(QualifiedUserID, provider: String)
    }

    let choice: Choice
    /// Whose login it must be.
    let scope: TenantScope

    fileprivate init(choice: Choice, scope: TenantScope) {
        self.choice = choice
        self.scope = scope
    }
}

/// A user's id as the vault has it: with the tenant, if there is one. ``TenantScope/user(_:)`` makes it of a caller's id.
struct QualifiedUserID: Hashable, Sendable {
    let text: String

    fileprivate init(text: String) { self.text = text }
}
