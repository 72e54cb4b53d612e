/// The outcome of a renewal, in one word: for metrics, spans and the scheduler. An open set.
package struct RenewalOutcome: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// New tokens are stored.
    package static let renewed = Self(description: "renewed")
    /// Another change came first, or there was nothing left to do.
    package static let unneeded = Self(description: "unneeded")
    /// The login is dead.
    package static let dead = Self(description: "dead")
    /// The provider requires the user to do something.
    package static let needsUser = Self(description: "needsUser")
    /// The provider refuses this client.
    package static let misconfigured = Self(description: "misconfigured")
    /// The provider gives no token for the resource or scope that was asked for.
    package static let targetRefused = Self(description: "targetRefused")
    /// Temporary: it is tried again later.
    package static let transient = Self(description: "transient")
    /// The refresh token may be spent, and no usable reply came.
    package static let inDoubt = Self(description: "inDoubt")
    /// Nothing was sent, because an earlier check no longer certainly held.
    package static let notSent = Self(description: "notSent")
    /// The app has no token now, and wants to be asked later.
    package static let postponed = Self(description: "postponed")
    /// No caller waits for the app's answer any longer.
    package static let withdrawn = Self(description: "withdrawn")
    /// A new refresh token, and no usable access token.
    package static let successorOnly = Self(description: "successorOnly")
    /// Not attempted: because of a backoff, a provider that is left alone, or a vault that cannot be written.
    package static let refused = Self(description: "refused")
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
