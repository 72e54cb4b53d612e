import VaultStorage

/// The outcome for the tokens of ended logins. The tokens are unusable here in every case.
public struct RevocationReport: Sendable, Equatable {
    public var results: [Result]
    /// After the erasure of a user: the user's remnants in the vault's files. `nil` otherwise.
    package var remnants: Remnants?

    package init(results: [Result] = [], remnants: Remnants? = nil) {
        self.results = results
        self.remnants = remnants
    }

    public struct Result: Sendable, Equatable {
        public let login: LoginID
        public let outcome: Outcome

        package init(login: LoginID, outcome: Outcome) {
            self.login = login
            self.outcome = outcome
        }
    }

    /// Whether earlier states of rows, sealed as they are, are still in the vault's files.
    package enum Remnants: Sendable, Equatable {
        case gone
        /// Another process still reads the vault as it was before. They go with the first changes of this process after
        /// that, or when the last process closes the vault.
        ///
        /// - Parameter processes: The ids of those processes, as far as the system shows them.
        case held(processes: [Int32])
        /// They could not be removed. They go when the last process closes the vault.
        case kept(VaultError)
    }

    /// The provider's answer. Programs need only ``isSettled``.
    public enum Outcome: Sendable, Equatable {
        /// The provider confirmed that the grant is over.
        case revoked
        /// There was nothing to revoke: no refresh token, or no provider.
        case nothingToRevoke
        /// The provider has no way to revoke this: the grant lives on there until it expires.
        case unsupported
        /// The grant belongs to another system, from which the login was imported or to which it was exported, and
        /// lives on there.
        case ownedBySource
        /// Not confirmed yet; the tokens stay sealed in the outbox until it is.
        case pending(VaultError)
        /// Not confirmed for ``UserManagerOptions/revocationLifetime``, so that nothing more is tried. The tokens were
        /// destroyed here.
        case givenUp
        /// The login's row is damaged, so the tokens cannot be read: the grant lives on until it expires. See
        /// `vaultctl damage list`.
        case unreadable

        /// Whether there is nothing left to do, and no token is known to live on at a provider that could have revoked
        /// it.
        public var isSettled: Bool {
            switch self {
            case .revoked, .nothingToRevoke, .unsupported, .ownedBySource: true
            case .pending, .givenUp, .unreadable: false
            }
        }
    }

    /// Whether no token of these logins is known to live on at a provider that could have revoked it.
    public var isComplete: Bool {
        results.allSatisfy(\.outcome.isSettled)
    }
}

extension RevocationReport.Remnants {
    init(_ remnants: VaultStorage.Remnants) {
        self =
            switch remnants {
            case .gone: .gone
            case .held(let processes): .held(processes: processes)
            case .kept(let error): .kept(VaultError(error))
            }
    }
}

extension RevocationReport: PublicRendering {
    var shown: ShownFields {
        [
            "results": results
        ]
    }
}
