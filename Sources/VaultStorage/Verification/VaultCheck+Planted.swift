/// Rows of the trail that the vault has not written, and what is counted beside it.
extension VaultCheck {
    /// Whether a row has a number by which it cannot be one of the chain. It says nothing of the rows after it.
    func leavesChain(_ link: AuditLink) -> Bool {
        let sequence = link.columns.sequence
        if sequence < 1 {
            report.note("audit", "\(sequence)", "no row of the trail has such a number: it was planted, or set aside")
            return true
        }
        let isNext = sequence <= audit.pruning.through || sequence == audit.lastSequence &+ 1
        return isNext ? false : isBehindEnd(link)
    }

    /// The same of a row that does not continue the chain, if nothing that the vault wrote comes after it.
    func isBehindEnd(_ link: AuditLink) -> Bool {
        guard let end = try? AuditTrail(opener).end(), link.columns.sequence > end.position.sequence else {
            return false
        }
        report.note("audit", "\(link.columns.sequence)", "it is behind the end of the audit trail: it was planted")
        return true
    }

    /// The counter of renewals stands in the clear. Read after the rows that are held against it, it cannot be behind them.
    func checkFences() throws(StoreError) {
        guard
            let problem = WriteTransaction.problem(ofCounter: try tables.highestFence(), told: audit.highestFence)
        else { return }
        report.note("refreshIntent", "counter", problem)
    }
}
