import TokenVault

/// The result of an action, as the next page reports it. The URL contains only its name, so no one can inject a text.
enum Notice: String {
    case connected, reconnected, renamed, disconnected, disconnecting, refused, otherAccount, notBound, expired, failed
    case signedOut

    var isBad: Bool {
        switch self {
        case .connected, .reconnected, .renamed, .disconnected, .signedOut: false
        case .disconnecting, .refused, .otherAccount, .notBound, .expired, .failed: true
        }
    }

    var words: String {
        switch self {
        case .connected: "The account is connected."
        case .reconnected: "The account is connected again."
        case .renamed: "The name is changed."
        case .disconnected: "The account is disconnected, and the provider has ended our access."
        case .disconnecting: "The account is disconnected here. The provider could not be told yet; we keep trying."
        case .refused: "Access was not granted, so nothing was connected."
        case .otherAccount: "That was another account. To use it, connect it as a new one."
        case .notBound: "This browser did not begin connecting the account. Please begin again."
        case .expired: "That took too long. Please begin again."
        case .failed: "That did not work. Please try again in a while."
        case .signedOut: "You are signed out."
        }
    }

    /// How a person can react to an error of the vault.
    init(_ error: VaultError) {
        self =
            switch error.code {
            case .logInRefused: .refused
            case .otherAccount: .otherAccount
            case .logInNotBound: .notBound
            case .unknownAuthorizationRequest, .logInExpired: .expired
            default: .failed
            }
    }
}
