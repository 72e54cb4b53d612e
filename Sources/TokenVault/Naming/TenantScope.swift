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

    /// How the ids of its users begin in the vault: ids of logins say nothing about their tenant.
    var userPrefix: String { tenant?.prefix ?? "" }

    /// Whether a user of this id, as the vault has it, is one of the tenant.
    func has(_ userId: String) -> Bool { tenant.map { $0.plain(userId) != nil } ?? true }

    /// With names within the tenant.
    func plain(_ login: Login) -> Login {
        guard let tenant else { return login }
        var login = login
        login.userId = tenant.plain(login.userId) ?? login.userId
        login.provider = login.provider.map { plain(provider: $0) }
        return login
    }

    /// The provider's name within the tenant.
    func plain(provider name: String) -> String { tenant?.plain(name) ?? name }

    func plain(_ user: User) -> User {
        guard let tenant else { return user }
        var user = user
        user.id = tenant.plain(user.id) ?? user.id
        return user
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
