import VaultCrypto
import VaultStorage

/// The revocations to be made for a login that ends.
struct RevocationPlan: Sendable {
    let login: LoginHandle
    let records: [OutboxRecord]
    /// Set if it is known without asking.
    let outcome: RevocationReport.Outcome?

    /// The grant outlives its revocable tokens.
    var livesOn = false

    /// The outcome for the whole login: settled only if every token is.
    func combined(_ outcomes: [OutboxHandle: RevocationReport.Outcome]) -> RevocationReport.Outcome {
        // An entry that is gone, and was not settled by this manager, was confirmed to another process.
        let own = records.map { outcomes[$0.handle] ?? .revoked }
        if let open = own.first(where: { !$0.isSettled }) { return open }
        if livesOn { return .unsupported }
        return own.contains(.revoked) ? .revoked : own.first ?? .revoked
    }
}

extension RevocationPlan {
    /// For a login whose grant is left alone.
    init(forgotten login: LoginHandle) {
        self.init(login: login, records: [], outcome: .nothingToRevoke)
    }

    /// For a login that cannot be read at all.
    init(unreadable login: LoginHandle) {
        self.init(login: login, records: [], outcome: .unreadable)
    }
}
