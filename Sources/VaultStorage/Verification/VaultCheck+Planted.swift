/// Planted rows of the trail, and the plaintext counter.
extension VaultCheck {
    /// Whether a row's number shows that it is not part of the chain. Such a row has no effect on the rows after it.
    func leavesChain(_ link: AuditLink) -> Bool {
        let sequence = link.columns.sequence
        if sequence < 1 {
            report.note("audit", "\(sequence)", "no row of the trail has such a number: it was planted, or set aside")
            return true
        }
        let isNext = sequence <= audit.pruning.through || sequence == audit.lastSequence &+ 1
        return isNext ? false : isBehindEnd(link)
    }

    /// Whether a row that does not continue the chain is behind the last row that the vault wrote.
    func isBehindEnd(_ link: AuditLink) -> Bool {
        guard let end = try? AuditTrail(opener).end(), link.columns.sequence > end.position.sequence else {
            return false
        }
        report.note("audit", "\(link.columns.sequence)", "it is behind the end of the audit trail: it was planted")
        return true
    }

    /// The counter of renewals is in plaintext. It is read after the rows that it is compared with, so it cannot be
    /// behind them.
    func checkFences() throws(StoreError) {
        guard
            let problem = WriteTransaction.problem(ofCounter: try tables.highestFence(), told: audit.highestFence)
        else { return }
        report.note("refreshIntent", "counter", problem)
    }
}
