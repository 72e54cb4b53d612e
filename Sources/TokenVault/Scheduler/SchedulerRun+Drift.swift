import Logging
import Synchronization
import VaultStorage

extension SchedulerRun {
    /// How often it compares providers' replies with their profiles, and how long after its start the first time:
    /// others start then, too.
    private static let driftInterval = Duration.seconds(3_600)
    private static let firstDrift = Duration.seconds(300)

    /// Reports providers whose rules seem to have changed.
    func lookForDrift() async {
        guard vault.readOnlyReason == nil else { return }
        let uptime = vault.timeSource.uptime()
        let isTime = state.withLock { state in
            let due = state.driftDueAt ?? (isOnce ? uptime : uptime + Self.firstDrift)
            state.driftDueAt = due > uptime ? due : uptime + Self.driftInterval
            return due <= uptime
        }
        guard isTime else { return }
        do {
            for drift in try await vault.reportDrift() {
                vault.logger.warning(
                    "a provider's rules seem to have changed: run vaultctl provider drift",
                    metadata: [
                        "vault-provider-handle": "\(drift.handle.text)",
                        "vault-drift": "\(drift.findings.map(\.kind.rawValue).joined(separator: " "))",
                    ])
            }
        } catch {
            vault.logger.debug("providers' replies were not examined", metadata: ["reason": "\(type(of: error))"])
        }
    }
}
