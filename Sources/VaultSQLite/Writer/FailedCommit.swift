import CSQLite
import VaultStorage

/// A commit that SQLite reported as failed.
struct FailedCommit {
    let error: StoreError
    /// Where the audit chain would have ended.
    let head: WriteTransaction.AuditHead
    /// Whether the transaction has added a link to the chain, which identifies it. Without one it counts as undone.
    let hasLink: Bool
    private let code: Int32

    init(_ channel: WriteChannel, _ error: StoreError) {
        self.error = error
        head = channel.transaction.head
        hasLink = head != channel.transaction.headAtBegin
        code = channel.connection.lastCode
    }

    /// Whether the transaction may be in the WAL all the same. When the disk is full it never is: the frame that
    /// commits comes last, and was not written. After any other error it may be, and the next recovery may find it.
    var isDoubtful: Bool { code & 0xff != SQLITE_FULL }

    func event(isThere: Bool) -> AuditEvent {
        AuditEvent(
            .commitSettled,
            [AuditEvent.Detail("outcome", isThere ? "durable" : "undone"), AuditEvent.Detail("code", "\(code)")])
    }
}
