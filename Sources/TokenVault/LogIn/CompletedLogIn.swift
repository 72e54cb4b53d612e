public import OAuthClient

/// A completed log-in.
public struct CompletedLogIn: Sendable, Equatable {
    /// Its user and provider have the names that the manager gives them, as in its listings.
    public internal(set) var login: Login
    /// The tenant in which the log-in was begun; nil for none. Continue with ``UserManager/scoped(to:)``.
    public let tenant: Tenant?
    /// The context that the app passed to ``LogInRequest``.
    public let context: [String: String]
    /// The verified claims of the provider's id token; nil if there was none. The vault keeps only ``Login/subject`` of
    /// them: store anything else that you need.
    public let claims: IDTokenClaims?
    /// Why the login cannot be renewed, and what to do about it: when its access token expires, the user must log in
    /// again. Nil: it can be renewed, or needs not be.
    public let whyNotRenewable: String?

    /// - Parameter login: With names as the vault has them.
    init(
        _ login: Login, _ names: TenantScope, context: [String: String], claims: IDTokenClaims?,
        _ profile: ProviderProfile?
    ) {
        whyNotRenewable = profile?.whyNotRenewable(login)
        self.login = names.plain(login)
        tenant = Tenant.of(login.userId)?.tenant
        self.context = context
        self.claims = claims
    }
}

extension CompletedLogIn: PublicRendering {
    var shown: ShownFields { ["login": login.id] }
}

extension ProviderProfile {
    /// Only for a login that has just been stored.
    fileprivate func whyNotRenewable(_ login: Login) -> String? {
        guard !login.isRefreshable, login.expiresAt != nil, exchange == nil else { return nil }
        return missingRefreshToken
            ?? "The provider sent no refresh token: many send one only if offline access was asked "
            + "for, by a scope or a parameter that their documentation names."
    }
}
