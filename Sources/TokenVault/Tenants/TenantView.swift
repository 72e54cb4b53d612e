public import FoundationEssentials
public import OAuthClient
import VaultCrypto
import VaultStorage

/// The users and providers of one tenant, and no others. See ``UserManager/tenant(_:)``.
///
/// User ids and names of providers are those within the tenant, in arguments and in what is returned. A login of another
/// tenant, or of none, is told like one that there is not: ``VaultError/Code/unknownLogin``.
///
/// What takes a ``LoginRef`` is called on the ``UserManager``, or on `AuthorizingClient`, with one that ``ref(_:)`` has bound to
/// the tenant:
///
/// ```swift
/// func work(_ contoso: TenantView, _ api: AuthorizingClient, _ account: LoginID) async throws {
///     let response = try await api.send(request, for: contoso.ref(.user("alice")))
///     try await users.logOut(contoso.ref(.login(account)))
/// }
/// ```
///
/// ## Topics
/// ### Naming logins
/// - ``tenant``
/// - ``ref(_:)``
/// ### Providers
/// - ``addProvider(_:)``
/// - ``providers()``
/// - ``provider(named:)``
/// - ``updateProvider(named:_:force:)``
/// - ``removeProvider(named:)``
/// ### Logging in
/// - ``beginLogIn(userId:provider:redirectURI:scope:dpop:label:loginHint:parameters:context:)``
/// - ``beginLogIn(into:redirectURI:scope:dpop:loginHint:parameters:context:acceptsOtherAccount:)``
/// - ``completeLogIn(_:boundTo:expectedUserId:)``
/// - ``beginDeviceLogIn(userId:provider:scope:dpop:label:usesPKCE:parameters:context:)``
/// - ``completeDeviceLogIn(_:)``
/// - ``addLogin(userId:provider:accessToken:expiresAt:refreshToken:scope:tokenType:dpopKey:label:)``
/// ### Tokens
/// - ``accessToken(userId:minimumValidity:deadline:)``
/// - ``clientToken(provider:_:parameters:dpop:)``
/// ### Looking
/// - ``user(_:)``
/// - ``users(after:limit:)``
/// - ``login(_:)``
/// - ``logins(where:after:pageSize:)``
/// - ``sessionState(userId:)``
/// ### Ends
/// - ``disableUser(_:)``
/// - ``enableUser(_:)``
/// - ``eraseUser(_:)``
/// - ``erase(progress:)``
public struct TenantView: Sendable {
    public let tenant: Tenant
    let users: UserManager

    var vault: Vault { users.vault }

    /// The same login, if it is one of this tenant: for everything that takes a ``LoginRef``.
    public func ref(_ login: LoginRef) -> LoginRef {
        let choice: LoginRef.Choice =
            switch login.choice {
            case .login: login.choice
            case .user(let userId): .user(tenant.qualify(userId))
            case .userAtProvider(let userId, let provider):
                .userAtProvider(tenant.qualify(userId), provider: tenant.qualify(provider))
            }
        return LoginRef(choice: choice, tenant: tenant)
    }

    // MARK: Logging in

    /// See ``UserManager/beginLogIn(userId:provider:redirectURI:scope:dpop:label:loginHint:parameters:context:)``.
    public func beginLogIn(
        userId: String, provider name: String, redirectURI: RedirectURI? = nil, scope: Scope? = nil, dpop: Bool? = nil,
        label: String? = nil, loginHint: String? = nil, parameters: LogInParameters = LogInParameters(),
        context: [String: String] = [:]
    ) async throws -> AuthorizationRequest {
        let wish = UserManager.LogInRequest(
            redirectURI: redirectURI, scope: scope, dpop: dpop, label: try ArgumentCheck.label(label),
            loginHint: loginHint, parameters: parameters, context: context)
        return try await users.begin(wish, user: qualified(userId), provider: tenant.qualify(name))
    }

    /// See ``UserManager/beginLogIn(into:redirectURI:scope:dpop:loginHint:parameters:context:acceptsOtherAccount:)``.
    public func beginLogIn(
        into login: LoginRef, redirectURI: RedirectURI? = nil, scope: Scope? = nil, dpop: Bool? = nil,
        loginHint: String? = nil, parameters: LogInParameters = LogInParameters(), context: [String: String] = [:],
        acceptsOtherAccount: Bool = false
    ) async throws -> AuthorizationRequest {
        try await users.beginLogIn(
            into: ref(login), redirectURI: redirectURI, scope: scope, dpop: dpop, loginHint: loginHint,
            parameters: parameters, context: context, acceptsOtherAccount: acceptsOtherAccount)
    }

    /// See ``UserManager/completeLogIn(_:boundTo:expectedUserId:)``. A log-in of another tenant is unknown here. Where the
    /// tenant is not known before, complete it with the manager's own method, and read ``Tenant/of(_:)`` the login's user.
    public func completeLogIn(
        _ callback: LogInCallback, boundTo binding: BrowserBinding, expectedUserId: String? = nil
    ) async throws -> CompletedLogIn {
        var done = try await users.complete(
            callback, .browser(SecretBytes(copying: binding.hash)), expectedUserId.map { try qualified($0) }, of: tenant
        )
        done.login = plain(done.login)
        return done
    }

    /// See ``UserManager/beginDeviceLogIn(userId:provider:scope:dpop:label:usesPKCE:parameters:context:)``.
    public func beginDeviceLogIn(
        userId: String, provider name: String, scope: Scope? = nil, dpop: Bool? = nil, label: String? = nil,
        usesPKCE: Bool = false, parameters: LogInParameters = LogInParameters(), context: [String: String] = [:]
    ) async throws -> DeviceLogIn {
        try await users.beginDeviceLogIn(
            user: qualified(userId), provider: tenant.qualify(name),
            UserManager.LogInRequest(
                scope: scope, dpop: dpop, label: ArgumentCheck.label(label), parameters: parameters, context: context),
            usesPKCE: usesPKCE)
    }

    /// See ``UserManager/completeDeviceLogIn(_:)``.
    public func completeDeviceLogIn(_ logIn: DeviceLogIn) async throws -> CompletedLogIn {
        guard tenant.plain(logIn.grant.userId) != nil else {
            throw VaultError(.unknownAuthorizationRequest, "there is no such log-in in this tenant")
        }
        var done = try await users.completeDeviceLogIn(logIn)
        done.login = plain(done.login)
        return done
    }

    /// See ``UserManager/addLogin(userId:provider:accessToken:expiresAt:refreshToken:scope:tokenType:dpopKey:label:)``.
    public func addLogin(
        userId: String, provider name: String? = nil, accessToken: AccessToken? = nil, expiresAt: Date? = nil,
        refreshToken: RefreshToken? = nil, scope: Scope? = nil, tokenType: TokenType? = nil, dpopKey: DPoPKey? = nil,
        label: String? = nil
    ) async throws -> Login {
        plain(
            try await users.addLogin(
                user: qualified(userId), provider: name.map { tenant.qualify($0) }, accessToken: accessToken,
                expiresAt: expiresAt, refreshToken: refreshToken, scope: scope, tokenType: tokenType, dpopKey: dpopKey,
                label: label))
    }

    // MARK: Tokens

    /// A good access token of this user's only login. See ``UserManager/accessToken(for:_:)``, which ``ref(_:)`` has logins for.
    public func accessToken(
        userId: String, minimumValidity: Duration? = nil, deadline: Duration? = nil
    ) async throws -> VaultToken {
        try await users.accessToken(
            for: ref(.user(userId)), TokenRequest(minimumValidity: minimumValidity, deadline: deadline))
    }

    /// See ``UserManager/clientToken(provider:_:parameters:dpop:)``.
    public func clientToken(
        provider name: String, _ request: TokenRequest = TokenRequest(), parameters: [FormParameter] = [],
        dpop: Bool? = nil
    ) async throws -> ClientToken {
        try await users.clientToken(
            provider: tenant.qualify(name), request, parameters: parameters, dpop: dpop)
    }

    // MARK: Names

    func qualified(_ userId: String) throws -> String {
        guard !userId.isEmpty else { throw VaultError(.invalidArgument, "the user id is empty") }
        return try ArgumentCheck.qualifiedUserId(tenant.qualify(userId))
    }

    /// With the names within the tenant.
    func plain(_ login: Login) -> Login {
        var login = login
        login.userId = tenant.plain(login.userId) ?? login.userId
        login.provider = login.provider.map { tenant.plain($0) ?? $0 }
        return login
    }
}
