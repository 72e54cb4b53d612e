import VaultCrypto
import VaultStorage

/// What is to be done about the tokens of a login that ends.
struct RevocationPlan: Sendable {
    let login: LoginHandle
    let records: [OutboxRecord]
    /// Known without asking.
    let outcome: RevocationReport.Outcome?

    /// The grant outlives what can be revoked of it.
    var livesOn = false

    /// What is true of the login as a whole: done only if every token is.
    func combined(_ outcomes: [OutboxHandle: RevocationReport.Outcome]) -> RevocationReport.Outcome {
        // An entry that is gone, and not by this manager, was confirmed to another process.
        let own = records.map { outcomes[$0.handle] ?? .revoked }
        if let open = own.first(where: { !$0.isSettled }) { return open }
        if livesOn { return .unsupported }
        return own.contains(.revoked) ? .revoked : own.first ?? .revoked
    }
}

extension RevocationPlan {
    /// Of a login whose grant is left alone.
    init(forgotten login: LoginHandle) {
        self.init(login: login, records: [], outcome: .nothingToRevoke)
    }

    /// Of a login of which nothing can be read.
    init(unreadable login: LoginHandle) {
        self.init(login: login, records: [], outcome: .unreadable)
    }
}
