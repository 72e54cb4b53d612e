import OAuthClient
import VaultStorage

/// A token that goes to an API with a request: a login's, or the client's own.
struct PresentedToken: Sendable {
    let accessToken: AccessToken
    let tokenType: TokenType
    let prover: ResourceServers.Prover
    /// Whose profile says how an API refuses it.
    let provider: ProviderHandle?
    /// A login's key is in the vault.
    var clientKey: DPoPKey?

    init(_ token: VaultToken) {
        accessToken = token.accessToken
        tokenType = token.tokenType
        prover = .login(token.login)
        provider = token.provider
    }

    init(_ token: ClientToken) {
        accessToken = token.accessToken
        tokenType = token.tokenType
        prover = .client(token.key.provider)
        provider = token.key.provider
        clientKey = token.dpopKey
    }
}
