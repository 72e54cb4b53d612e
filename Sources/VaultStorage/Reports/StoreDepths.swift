/// The numbers of unsettled items in a vault.
package struct StoreDepths: Equatable, Sendable {
    /// Renewals that were begun and have no recorded end.
    package let openIntents: Int
    /// Those of them whose outcome is unknown.
    package let inDoubt: Int
    /// Revocations that no provider has confirmed.
    package let outbox: Int
    /// The moment of the state in the last finished backup.
    package let lastBackupAt: Timestamp?

    package init(openIntents: Int, inDoubt: Int, outbox: Int, lastBackupAt: Timestamp?) {
        self.openIntents = openIntents
        self.inDoubt = inDoubt
        self.outbox = outbox
        self.lastBackupAt = lastBackupAt
    }
}
