import ArgumentParser
import OAuthClient
import TokenVault

struct TokenClientCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "client",
        abstract: "Get an access token of the client itself, which belongs to no user.",
        discussion: """
            vaultctl token client billing --scope invoice.read
            vaultctl token client billing --parameter audience=https://api.example --reveal

            The client authenticates with the secret or the key in the vault (RFC 6749, client credentials). Each run \
            fetches a new token: a service keeps its tokens in memory.

            Without --reveal, it describes the token without showing it. Every reveal is recorded in the audit log. A \
            token that is bound to a DPoP key is of no use without this process, and is not shown. To call an API: \
            vaultctl request URL --client PROVIDER
            """)

    @Argument(help: "The provider's name in the vault.")
    var provider: String

    @OptionGroup var tenant: TenantOption

    @OptionGroup var options: ClientTokenOptions

    @Flag(help: "Print the access token itself.")
    var reveal = false

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        invocation.warnOfCommas(in: options.scope)
        let (request, parameters) = (try options.request, try options.parameters)
        let token = try await VaultAccess(global, invocation).manage { users in
            if reveal, try await users.vault.provider(named: tenant.provider(provider)).dpop == .required {
                throw Failure.usage(
                    "this provider's tokens are bound to a key that ends with this process",
                    hint: "to call an API with one: vaultctl request URL --client "
                        + Printable.argument(tenant.provider(provider)))
            }
            let token = try await users.clientToken(
                provider: tenant.provider(provider), request, parameters: parameters)
            if reveal { try await users.recordReveal(of: token) }
            return token
        }
        let record = TokenView.record(token, now: invocation.now, isRevealed: reveal)
        if reveal {
            try invocation.emit(record, text: token.accessToken.reveal() + "\n")
        } else {
            try invocation.emit(record)
            invocation.hint("--reveal prints the token itself")
        }
    }
}
