/// What waits in a vault to be settled.
package struct StoreDepths: Equatable, Sendable {
    /// Renewals that were begun and whose end is not recorded.
    package let openIntents: Int
    /// Those of them whose outcome is unknown.
    package let inDoubt: Int
    /// Revocations that no provider has confirmed.
    package let outbox: Int
    /// The moment whose state the last finished backup holds.
    package let lastBackupAt: Timestamp?

    package init(openIntents: Int, inDoubt: Int, outbox: Int, lastBackupAt: Timestamp?) {
        self.openIntents = openIntents
        self.inDoubt = inDoubt
        self.outbox = outbox
        self.lastBackupAt = lastBackupAt
    }
}
