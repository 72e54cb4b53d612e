import OAuthClient
import VaultStorage

/// A token that is sent to an API with a request: a login's, or the client's own.
struct PresentedToken: Sendable {
    let accessToken: AccessToken
    let tokenType: TokenType
    let prover: ResourceServers.Prover
    /// The provider whose profile describes how an API refuses it.
    let provider: ProviderHandle?
    /// The protected resource to which it goes, and nowhere else; nil: the provider decides.
    let resource: String?
    /// The key of a client's own token; a login's key is in the vault.
    var clientKey: DPoPKey?

    init(_ token: VaultToken) {
        accessToken = token.accessToken
        tokenType = token.tokenType
        prover = .login(token.login)
        provider = token.provider
        resource = token.resourceOfLogin
    }

    init(_ token: ClientToken) {
        accessToken = token.accessToken
        tokenType = token.tokenType
        prover = .client(token.key.provider)
        provider = token.key.provider
        resource = nil
        clientKey = token.dpopKey
    }
}
