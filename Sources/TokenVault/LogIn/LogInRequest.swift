public import OAuthClient
import VaultStorage

/// The subject and the settings of a log-in, for ``UserManager/beginLogIn(_:)``, ``UserManager/beginDeviceLogIn(_:usesPKCE:)`` and
/// ``UserManager/logIn(_:authorizationCode:codeVerifier:dpopKey:nonce:)``.
///
/// ```swift
/// let new = LogInRequest(userId: "alice", provider: "acme", context: ["returnTo": "/calendar"])
/// let again = LogInRequest(into: .login(login.id))
/// ```
public struct LogInRequest: Sendable {
    enum Subject: Sendable {
        case user(String, provider: String)
        case login(LoginRef, acceptsOtherAccount: Bool)
    }

    let subject: Subject
    let redirectURI: RedirectURI?
    let scope: Scope?
    let dpop: Bool?
    let label: String?
    let loginHint: String?
    let parameters: LogInParameters
    let context: [String: String]
    let variables: [String: String]
    /// Asked for in addition to what the login has.
    let adding: Scope?
    /// The protected resource for which the login will be, and for no other (RFC 9728). A login that is for one stays so.
    package var resource: String?

    /// A log-in that makes a login for a user.
    ///
    /// - Parameters:
    ///   - userId: The user, as the app calls them. They need not exist yet.
    ///   - provider: The provider's name in this vault.
    ///   - redirectURI: By default the provider's.
    ///   - scope: By default the provider's. With `openid` in it a random nonce is sent, and the id token must repeat it.
    ///   - dpop: Whether the login is bound to a key (RFC 9449). By default what the provider's policy demands.
    ///   - label: Distinguishes this user's logins.
    ///   - loginHint: The account that the provider should expect, such as a mail address.
    ///   - parameters: Requests beyond the scope.
    ///   - context: Given back in ``CompletedLogIn/context``: up to 16 values of 1 KiB, sealed.
    ///   - variables: Values that the provider's profile wants of each log-in, such as a shop's subdomain. They are kept with
    ///     the login, among ``Login/attributes``.
    public init(
        userId: String, provider: String, redirectURI: RedirectURI? = nil, scope: Scope? = nil, dpop: Bool? = nil,
        label: String? = nil, loginHint: String? = nil, parameters: LogInParameters = LogInParameters(),
        context: [String: String] = [:], variables: [String: String] = [:]
    ) {
        subject = .user(userId, provider: provider)
        self.redirectURI = redirectURI
        self.scope = scope
        self.dpop = dpop
        self.label = label
        self.loginHint = loginHint
        self.parameters = parameters
        self.context = context
        self.variables = variables
        adding = nil
    }

    /// A log-in into an existing login: its result replaces the login's chain. The login keeps its id, its label, its metadata
    /// and its time of creation.
    ///
    /// The login may be alive, dead or terminated: an app that asks for this lets the user come back. A login that is terminated
    /// after the log-in began stays so. Until the log-in is completed the login stays as it was. Then, in one transaction, it
    /// gets the new tokens, a new key if it is bound to one, and no flag or postponement. A renewal under way can no longer
    /// change it. The old grant is revoked at its provider, unless that would end the new one.
    ///
    /// - Parameters:
    ///   - login: The login. It needs a provider.
    ///   - redirectURI: By default the provider's.
    ///   - scope: By default the provider's, not the one of the previous log-in.
    ///   - dpop: Whether the login is bound to a key (RFC 9449). By default as before.
    ///   - loginHint: The account that the provider should expect, such as a mail address.
    ///   - parameters: Requests beyond the scope.
    ///   - context: Given back in ``CompletedLogIn/context``: up to 16 values of 1 KiB, sealed.
    ///   - variables: As for a new login. By default those of the login; others need `acceptsOtherAccount`.
    ///   - adding: A scope that is asked for in addition to what was granted and asked for before, instead of `scope`, such
    ///     as that of ``ResourceReply/needsScope(_:)``. A user who has been sent to consent to it is sent to the same page.
    ///   - acceptsOtherAccount: Whether the user may choose another account at the provider than before. Otherwise the completion
    ///     throws ``VaultError/Code/otherAccount`` unless the id token names ``Login/subject`` again; where the vault knows no
    ///     subject there is nothing to compare.
    public init(
        into login: LoginRef, redirectURI: RedirectURI? = nil, scope: Scope? = nil, dpop: Bool? = nil,
        loginHint: String? = nil, parameters: LogInParameters = LogInParameters(), context: [String: String] = [:],
        variables: [String: String] = [:], adding: Scope? = nil, acceptsOtherAccount: Bool = false
    ) {
        subject = .login(login, acceptsOtherAccount: acceptsOtherAccount)
        self.redirectURI = redirectURI
        self.scope = scope
        self.dpop = dpop
        label = nil
        self.loginHint = loginHint
        self.parameters = parameters
        self.context = context
        self.variables = variables
        self.adding = adding
    }
}

extension LogInRequest: PublicRendering {
    var shown: ShownFields {
        switch subject {
        case .user(let userId, let provider):
            [
                "userId": ShownFields.name(userId), "provider": ShownFields.name(provider),
                "redirectURI": redirectURI, "scope": scope, "dpop": dpop, "label": label,
            ]
        case .login(let login, let acceptsOtherAccount):
            [
                "login": login, "redirectURI": redirectURI, "scope": scope, "dpop": dpop,
                "acceptsOtherAccount": acceptsOtherAccount,
            ]
        }
    }
}

/// A log-in whose subject the vault knows, and whose settings are acceptable.
struct CheckedLogIn {
    let request: LogInRequest
    let userId: String
    let provider: StoredProvider
    let label: String?
    let context: [String: String]
    /// The values of the profile's variables.
    let values: [String: String]
    /// The login whose chain the new one replaces.
    let target: ReplacedLogin?
    /// Whether the login that is replaced is bound to a key; nil: it is for a new login.
    let keepsKey: Bool?

    /// The scope to ask for; nil: the provider's.
    let scope: Scope?
    /// The user; nil: the vault does not have them yet.
    var user: UserHandle?
    /// The protected resource that the login will be for.
    var resource: String?
    /// With an addition to the scope: the other log-ins that ask this login's user for more.
    var pending: [AuthorizationRequestRecord] = []

    /// Whether the login gets a key, as far as the caller or the login before says.
    var dpop: Bool? { request.dpop ?? keepsKey }
}

extension UserManager {
    /// Checks a request before the user consents to anything, and before a code is spent.
    ///
    /// - Throws: ``VaultError``, such as ``VaultError/Code/userDisabled``, or ``VaultError/Code/heldBySource`` for a login that
    ///   another system still renews.
    func check(_ request: LogInRequest) async throws -> CheckedLogIn {
        try request.parameters.check()
        let (label, context) = (try ArgumentCheck.label(request.label), try Self.checked(request.context))
        switch request.subject {
        case .user(let userId, let name):
            let (userId, name) = (try names.user(userId).text, names.provider(name))
            try ArgumentCheck.requireOneTenant(userId, name)
            let user = try await refuseDisabled(userId)
            let provider = try await VaultError.translating { try await vault.store.provider(named: name) }
            return CheckedLogIn(
                request: request, userId: userId, provider: provider, label: label, context: context,
                values: try provider.record.valuesForLogIn(request.variables), target: nil, keepsKey: nil,
                scope: request.scope, user: user, resource: request.resource)
        case .login(let login, let acceptsOtherAccount):
            let (stored, provider) = try await replaceable(login)
            // Who has asked the resource knows that it has moved back.
            guard !stored.session.hasMoved || request.resource != nil else {
                throw VaultError(
                    .protocolViolation, "the login's resource names another authorization server now",
                    hint: "ask the resource again: vaultctl login open --into LOGIN; or begin a new login for it")
            }
            let known = stored.session.attributes
            let values = try provider.record.valuesForLogIn(request.variables, stored: known)
            if !acceptsOtherAccount,
                let name = values.keys.sorted().first(where: { known[$0] ?? values[$0] != values[$0] })
            {
                throw VaultError(
                    .invalidArgument, "this login has another value of \(name), so this would be another account",
                    hint: "to keep its value, leave --variable out; to accept another account: --any-account")
            }
            let pending = request.adding == nil ? [] : try await pendingStepUps(into: stored.handle)
            return CheckedLogIn(
                request: request, userId: stored.userId, provider: provider, label: nil, context: context,
                values: values, target: ReplacedLogin(stored, acceptsOtherAccount: acceptsOtherAccount),
                keepsKey: stored.keepsKey(provider.record.dpop),
                scope: try scope(of: request, into: stored, pending), user: stored.user,
                resource: stored.session.resource ?? request.resource, pending: pending)
        }
    }
}
