/// The results of ending many logins.
public struct LoginEndReport: Sendable, Equatable {
    /// How many logins have ended here.
    public internal(set) var ended = 0
    /// Of these, how many have grants that are over at the provider, or had nothing to revoke.
    package internal(set) var settled = 0
    /// Of these, how many wait in the outbox for their provider's confirmation.
    public internal(set) var pending = 0
    /// Of these, how many have grants that live on at a provider that cannot revoke them.
    package internal(set) var unsupported = 0
    /// Rows that cannot be opened. They stay; see `vaultctl damage list`.
    package internal(set) var damaged = 0
    /// How many logins could not be ended; they are unchanged.
    public internal(set) var failed = 0
    /// The first hundred of these.
    public internal(set) var failures: [Failure] = []

    /// A login that could not be ended.
    public struct Failure: Error, Sendable, Equatable {
        public let login: LoginID
        public let error: VaultError
    }

    /// Whether every matching login has ended, and none of their tokens is known to live on.
    public var isComplete: Bool { failed == 0 && damaged == 0 && pending == 0 }

    private static let mostFailures = 100

    mutating func add(_ failure: Failure) {
        // It was removed meanwhile, which is the desired result.
        guard failure.error.code != .unknownLogin else { return }
        failed += 1
        if failures.count < Self.mostFailures { failures.append(failure) }
    }

    mutating func count(_ outcome: RevocationReport.Outcome) {
        switch outcome {
        case .revoked, .nothingToRevoke: settled += 1
        case .unsupported, .ownedBySource: unsupported += 1
        case .pending, .givenUp, .unreadable: pending += 1
        }
    }
}

extension LoginEndReport: PublicRendering {
    var shown: ShownFields {
        [
            "ended": ended, "pending": pending, "failed": failed, "failures": failures,
        ]
    }
}
