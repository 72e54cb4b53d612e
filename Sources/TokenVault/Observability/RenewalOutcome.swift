/// The outcome of a renewal, in one word: for metrics, spans and the scheduler. An open set.
public struct RenewalOutcome: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// New tokens are stored.
    public static let renewed = Self(description: "renewed")
    /// Another change came first, or there was nothing left to do.
    public static let unneeded = Self(description: "unneeded")
    /// The login is dead.
    public static let dead = Self(description: "dead")
    /// The provider requires the user to do something.
    public static let needsUser = Self(description: "needsUser")
    /// The provider refuses this client.
    public static let misconfigured = Self(description: "misconfigured")
    /// The provider gives no token for the resource or scope that was asked for.
    public static let targetRefused = Self(description: "targetRefused")
    /// Temporary: it is tried again later.
    public static let transient = Self(description: "transient")
    /// The refresh token may be spent, and no usable reply came.
    public static let inDoubt = Self(description: "inDoubt")
    /// Nothing was sent, because an earlier check no longer certainly held.
    public static let notSent = Self(description: "notSent")
    /// The app has no token now, and wants to be asked later.
    public static let postponed = Self(description: "postponed")
    /// No caller waits for the app's answer any longer.
    public static let withdrawn = Self(description: "withdrawn")
    /// A new refresh token, and no usable access token.
    public static let successorOnly = Self(description: "successorOnly")
    /// Not attempted: because of a backoff, a provider that is left alone, or a vault that cannot be written.
    public static let refused = Self(description: "refused")
}

extension RenewalOutcome {
    init(_ ending: RenewalMachine.Ending) {
        self =
            switch ending {
            case .renewed: .renewed
            case .satisfied, .superseded: .unneeded
            case .refused(.dead): .dead
            case .refused: .refused
            case .failed(.dead): .dead
            case .failed(.needsUser): .needsUser
            case .failed(.clientRefused), .failed(.misconfigured): .misconfigured
            case .failed(.targetRefused): .targetRefused
            case .failed(.transient), .failed(.unprocessed): .transient
            case .failed(.inDoubt): .inDoubt
            case .failed(.notSent): .notSent
            case .failed(.withdrawn): .withdrawn
            case .failed(.postponed): .postponed
            case .successorOnly: .successorOnly
            }
    }

    /// Whether it points to a problem if it happens often.
    var isFailure: Bool {
        switch self {
        case .renewed, .unneeded, .withdrawn, .postponed: false
        default: true
        }
    }
}
