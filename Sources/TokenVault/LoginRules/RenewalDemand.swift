import VaultStorage

/// What a caller needs of an access token.
enum RenewalDemand: Equatable, Sendable {
    /// Valid for at least so long; nil: for as long as is sensible for a token of its lifetime.
    case validity(Duration?)
    /// Newer than the one of this generation, whatever is left of that.
    case newer(than: Int64)
    /// None at all: what an earlier attempt left open is to be settled.
    case recovery
    /// None at all: the login is to be renewed because it is due, whatever callers would be content with.
    case due

    /// Whether a caller waits for a token.
    var isForCaller: Bool {
        switch self {
        case .validity, .newer: true
        case .recovery, .due: false
        }
    }
}
