import ArgumentParser
import FoundationEssentials
import OAuthClient
import TokenVault

struct LoginAddCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a login with tokens from elsewhere.",
        discussion: """
            vaultctl login add --user alice --provider acme --refresh-token-file alice.refresh

            At least one token is needed. Make sure that no other program keeps using the same refresh token: most \
            providers accept each refresh token only once, and end the grant when one comes twice. A refresh token that \
            another login of the user has already is refused.
            """)

    @Option(
        name: .shortAndLong, help: .init("The user's id in your system; the user is created if new.", valueName: "id"))
    var user: String

    @Option(name: .shortAndLong, help: .init("The provider that renews the login.", valueName: "name"))
    var provider: String?

    @OptionGroup var tenant: TenantOption

    @OptionGroup var access: SecretOptions<AccessTokenKind>
    @OptionGroup var refresh: SecretOptions<RefreshTokenKind>
    @OptionGroup var expiry: ExpiryOptions

    @Option(help: .init("The scope of the tokens.", valueName: "scope"))
    var scope: String?

    @Option(help: .init("A label for the login, to distinguish several.", valueName: "text"))
    var label: String?

    @OptionGroup var variables: VariableOptions

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let accessSource =
            try access.source ?? (refresh.source == nil && invocation.console.inputIsTerminal ? .prompt : nil)
        let refreshSource = try refresh.source
        guard accessSource != nil || refreshSource != nil else {
            throw Failure.usage("no token was given", hint: "use --access-token-file PATH or --refresh-token-file PATH")
        }
        guard accessSource != nil || !expiry.isGiven else {
            throw Failure.usage(
                "\(expiry.name) is about the access token, and none is given",
                hint: "leave it out: without an access token, the login is renewed at its first use")
        }
        invocation.warnOfCommas(in: scope)
        let scope = try scope.map { try Scope($0, of: "--scope") }
        let login = try await VaultAccess(global, invocation).manage { users, reader in
            let accessToken = try accessSource.map { try AccessToken(reader.read("Access token", from: $0)) }
            let refreshToken = try refreshSource.map { try RefreshToken(reader.read("Refresh token", from: $0)) }
            try SecretReader.refuseSame(accessToken, refreshToken)
            guard refreshToken == nil || provider != nil else {
                throw Failure.usage(
                    "a refresh token needs the provider that issued it", hint: "name it: --provider NAME")
            }
            expiry.warn(ofClaimIn: accessToken, invocation)
            try await TenantLookalike.warn(
                of: user, tenant.tenant, mayBeNew: provider == nil, in: users.vault, invocation)
            if let refreshToken, let provider {
                try await users.vault.refuse(refreshToken, ofUser: tenant.user(user), at: tenant.provider(provider))
            }
            return try await users.addLogin(
                userId: tenant.user(user), provider: provider.map { tenant.provider($0) }, accessToken: accessToken,
                expiresAt: try expiry.date(invocation), refreshToken: refreshToken, scope: scope, label: label,
                variables: try variables.values)
        }
        try LoginView.emit(new: login, invocation)
    }
}
