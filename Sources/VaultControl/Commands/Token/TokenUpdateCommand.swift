import ArgumentParser
import FoundationEssentials
import OAuthClient
import TokenVault

struct TokenUpdateCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Set a new access token; this also revives a dead login.",
        discussion: """
            vaultctl token update --user alice --access-token-file new.token --expires-in 1h

            Without a new refresh token, the login keeps the one it has. To renew the current token, use:
            vaultctl login refresh
            """)

    @OptionGroup var selection: LoginSelection
    @OptionGroup var access: SecretOptions<AccessTokenKind>
    @OptionGroup var refresh: SecretOptions<RefreshTokenKind>
    @OptionGroup var expiry: ExpiryOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let refreshSource = try refresh.source
        guard let accessSource = try access.source ?? (invocation.console.inputIsTerminal ? .prompt : nil) else {
            throw Failure.usage("no access token was given", hint: "use --access-token-file PATH or --access-token -")
        }
        if let date = try expiry.date(now: invocation.now), date <= invocation.now {
            throw Failure.usage(
                "\(expiry.name) is in the past: nothing was changed",
                hint: "use the moment at which the new token ends, or --expires-in 1h; to renew the one that is there: "
                    + "vaultctl login refresh")
        }
        let login = try await VaultAccess(global, invocation).manage { users, reader in
            let login = try await selection.find(in: users.vault)
            guard refreshSource == nil || login.provider != nil else {
                throw Failure.usage(
                    "a refresh token needs the provider that issued it, and this login has none",
                    hint:
                        "add a login at the provider: vaultctl login add --user ID --provider NAME --refresh-token-file PATH"
                )
            }
            let accessToken = try AccessToken(reader.read("Access token", from: accessSource))
            let refreshToken = try refreshSource.map { try RefreshToken(reader.read("Refresh token", from: $0)) }
            try SecretReader.refuseSame(accessToken, refreshToken)
            if let refreshToken, let provider = login.provider {
                try await users.vault.refuse(refreshToken, ofUser: login.userId, at: provider, otherThan: login.id)
            }
            expiry.warn(ofClaimIn: accessToken, invocation)
            return try await users.updateAccessToken(
                for: .login(login.id), accessToken: accessToken, expiresAt: try expiry.date(invocation),
                refreshToken: refreshToken)
        }
        try invocation.emit(LoginView.record(login, now: invocation.now))
    }
}
