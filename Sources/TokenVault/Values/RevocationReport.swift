/// What became of the tokens of logins that were ended. The tokens are unusable here in every case.
public struct RevocationReport: Sendable, Equatable {
    public var results: [Result]

    public struct Result: Sendable, Equatable {
        public let login: LoginID
        public let outcome: Outcome
    }

    /// What the provider said. ``isSettled`` is what a program needs.
    public enum Outcome: Sendable, Equatable {
        /// The provider confirmed that the grant is over.
        case revoked
        /// There was nothing to revoke: no refresh token, or no provider.
        case nothingToRevoke
        /// The provider has no way to revoke this: the grant lives on there until it runs out.
        case unsupported
        /// Not confirmed yet; the tokens stay sealed in the outbox until it is.
        case pending(VaultError)
        /// Not confirmed for so long that nothing more is tried; see
        /// ``UserManagerOptions/revocationLifetime``. The tokens were destroyed here.
        case givenUp

        /// Whether nothing is left to be done, and no token is known to live on at a provider that could have revoked it.
        public var isSettled: Bool {
            switch self {
            case .revoked, .nothingToRevoke, .unsupported: true
            case .pending, .givenUp: false
            }
        }
    }

    /// Whether no token of these logins is known to live on at a provider that could have revoked it.
    public var isComplete: Bool {
        results.allSatisfy(\.outcome.isSettled)
    }
}
