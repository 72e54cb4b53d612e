import VaultStorage

/// A caller's requirements for an access token.
enum RenewalDemand: Equatable, Sendable {
    /// Valid for at least this long; nil: for as long as is sensible for a token of its lifetime.
    case validity(Duration?)
    /// Newer than the one of this generation, however long that is still valid.
    case newer(than: Int64)
    /// None: only settles an unfinished earlier attempt.
    case recovery
    /// None: renews the login because it is due, even if callers would accept its token.
    case due

    /// Whether a caller waits for a token.
    var isForCaller: Bool {
        switch self {
        case .validity, .newer: true
        case .recovery, .due: false
        }
    }
}
