package import TokenVault
import VaultStorage

extension Vault {
    /// Holds all logins, as after a restore: for a restore that the vault has not noticed by itself.
    package func holdAllLogins() async throws {
        try requireOpen()
        try await VaultError.translating {
            try await store.holdAllLogins(AuditEvent(.vaultRestored, [.init("evidence", "operator")]))
        }
    }

    /// Lets a provider's logins that a restore holds be renewed again. This sends nothing itself: the next call, or the
    /// scheduler, renews.
    ///
    /// A refresh token of the backup may have been spent since. Begin with the providers with the lowest
    /// ``HeldLogins/risk``, with a small `limit`, and check the results for those logins. Where the risk is too high,
    /// leave them held and ask their users to log in again: a new log-in is never held.
    ///
    /// - Parameters:
    ///   - provider: Its name; nil: logins that only the app can renew.
    ///   - limit: How many at most; nil: all.
    /// - Returns: The logins that were accepted; at most a thousand of them are named, and none that were terminated.
    @discardableResult
    package func acceptRestore(ofProvider provider: String?, limit: Int? = nil) async throws -> RestoreAcceptance {
        try requireOpen()
        let handle = try await handle(ofProvider: provider)
        var acceptance = RestoreAcceptance()
        var cursor: Int64?
        repeat {
            try Task.checkCancellation()
            let wanted = min(Self.acceptedAtOnce, limit.map { $0 - acceptance.count } ?? Self.acceptedAtOnce)
            guard wanted > 0 else { break }
            let after = cursor
            let (page, accepted) = try await VaultError.translating {
                let page = try await store.heldLogins(of: handle, after: after, limit: wanted)
                return try await (
                    page,
                    store.acceptRestored(page.logins) { $0.dueAt = $0.userStatus == .active ? $0.nextDue : nil }
                )
            }
            cursor = page.next
            acceptance.note(accepted, tried: page.logins.count)
        } while cursor != nil
        return acceptance
    }

    /// Logins in one transaction: some milliseconds' worth.
    private static let acceptedAtOnce = 64
}

/// The results of ``Vault/acceptRestore(ofProvider:limit:)``.
package struct RestoreAcceptance: Sendable, Equatable {
    package internal(set) var count = 0
    /// Held logins that stay so because their rows cannot be opened.
    package internal(set) var damaged = 0
    /// The first thousand.
    package internal(set) var logins: [LoginID] = []

    /// Adds the result of a later call, which tries damaged rows again.
    package mutating func add(_ other: RestoreAcceptance) {
        count += other.count
        damaged = max(damaged, other.damaged)
        logins += other.logins.prefix(max(0, 1_000 - logins.count))
    }

    fileprivate mutating func note(_ accepted: AcceptedLogins, tried: Int) {
        count += accepted.living.count
        damaged += tried - accepted.living.count - accepted.ended
        logins += accepted.living.prefix(max(0, 1_000 - logins.count)).map { LoginID($0) }
    }
}

extension Vault {
    /// How many logins of a provider a restore holds, and at what risk.
    package func heldLogins(ofProvider provider: String?) async throws -> HeldLogins {
        if let provider { _ = try await handle(ofProvider: provider) }
        return try await heldLogins().first { $0.provider == provider }
            ?? HeldLogins(provider: provider, logins: 0, held: 0, risk: provider == nil ? .app : .none)
    }
}
