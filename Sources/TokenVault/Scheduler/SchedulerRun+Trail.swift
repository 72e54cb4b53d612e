import Logging
import Synchronization
import VaultStorage

extension SchedulerRun {
    /// How often it checks for rows to prune.
    private static let pruningInterval = Duration.seconds(600)
    /// How long it prunes before it continues with other work.
    private static let pruningTime = Duration.seconds(10)

    /// Prunes the audit trail, little by little.
    func keepTrailShort() async {
        guard let retention = options.auditRetention, vault.readOnlyReason == nil else { return }
        let uptime = vault.timeSource.uptime()
        let isTime = state.withLock { state in
            if let last = state.prunedAt, uptime - last < Self.pruningInterval { return false }
            state.prunedAt = uptime
            return true
        }
        guard isTime else { return }
        do {
            guard try await vault.isPruningDue(retention) else { return }
            let done = try await vault.prune(vault.limits(retention), for: Self.pruningTime)
            report { $0.auditEntriesRemoved += Int(done.removed) }
            // There was too much for the available time: it continues at the next opportunity.
            if try await vault.isPruningDue(retention) { state.withLock { $0.prunedAt = nil } }
        } catch let error as VaultError where error.code == .quarantined || error.code == .damaged {
            vault.logger.warning(
                "the audit trail is not pruned: it is damaged", metadata: ["reason": "\(error.message)"])
        } catch {
            vault.logger.debug("the audit trail was not pruned", metadata: ["reason": "\(type(of: error))"])
        }
    }
}
