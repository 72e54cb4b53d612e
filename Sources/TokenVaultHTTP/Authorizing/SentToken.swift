import HTTPTypes
import TokenVault

/// The token of a request: a login's, or the client's own.
enum SentToken: Sendable {
    /// The owner of a token, for servers that reject even new tokens.
    enum Owner: Hashable, Sendable {
        case login(LoginID)
        case client(provider: String, resource: String?)
    }

    case login(VaultToken)
    case client(ClientToken)

    var owner: Owner {
        switch self {
        case .login(let token): .login(token.login)
        case .client(let token): .client(provider: token.providerHandle, resource: token.resource)
        }
    }
}
