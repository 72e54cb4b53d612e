import ArgumentParser
import OAuthClient
import TokenVault

struct TokenGetCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Get a good access token, renewed if need be.",
        discussion: """
            vaultctl token get --user alice
            curl -H "Authorization: Bearer $(vaultctl token get --user alice --reveal)" https://api.example/

            Without --reveal it tells about the token but not the token itself. Every reveal is written to the audit \
            log.
            """)

    @OptionGroup var selection: LoginSelection

    @Flag(help: "Print the access token itself.")
    var reveal = false

    @Option(help: .init("How long the token must still be valid: 90, 15m, 2h.", valueName: "time"))
    var minValidity: TimeSpan?

    @Option(help: .init("How long to wait for a renewal; it goes on when this is over.", valueName: "time"))
    var deadline: TimeSpan?

    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let choice = try selection.choice
        let token = try await VaultAccess(global, invocation).manage { users in
            let token = try await get(choice, users)
            if reveal {
                try await users.recordReveal(of: token)
            }
            return token
        }
        let json = TokenFacts.json(token, now: invocation.now, isRevealed: reveal)
        if reveal {
            try invocation.emit(json: json, text: token.accessToken.reveal() + "\n")
        } else {
            try invocation.emit(json: json, facts: TokenFacts.facts(token, now: invocation.now))
            invocation.hint("--reveal prints the token itself")
        }
    }

    private func get(_ choice: LoginSelection.Choice, _ users: UserManager) async throws -> VaultToken {
        switch choice {
        case .login(let id):
            return try await users.accessToken(
                login: id, minimumValidity: minValidity?.duration, deadline: deadline?.duration)
        case .user(let user):
            do {
                return try await users.accessToken(
                    userId: user, minimumValidity: minValidity?.duration, deadline: deadline?.duration)
            } catch let error as VaultError where error.code == .ambiguousLogin {
                guard try users.vault.user(user).isEnabled else {
                    throw Failure(
                        .loginDead, code: VaultError.Code.userDisabled.name, "the user is disabled",
                        hints: ["vaultctl user enable lets him log in again"])
                }
                throw LoginSelection.ambiguous(try users.vault.logins(ofUser: user, limit: 100))
            }
        }
    }
}
