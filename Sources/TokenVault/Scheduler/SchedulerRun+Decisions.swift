import Synchronization
import VaultStorage

extension SchedulerRun {
    /// Events that may let a login be renewed that could not be before.
    private static let decisions: Set<AuditKind> = [
        .restoreAccepted, .importAccepted, .importReturned, .providerAdded, .providerUpdated, .loginRevived,
        .loggedInAgain,
        .clientRegistered, .clientRegistrationChanged, .witnessReplaced, .userEnabled,
    ]
    /// If there are more rows than this, they are not read: then everything counts as decided.
    private static let mostRows: Int64 = 4_096

    /// A registration that was changed after being refused is tried at once.
    func noticeRegistrations(_ plan: inout Plan) async {
        let providers = state.withLock { Set($0.refused.values) }
        if !providers.isEmpty { plan.pause = min(plan.pause, SchedulerState.decisionInterval) }
        for provider in providers {
            guard let revision = try? await vault.store.provider(provider).revision else { continue }
            let isNew = context.health.change(provider) { health in
                guard health.breaker.isVoid(at: revision) else { return false }
                health.pace.release()
                return true
            }
            if isNew { state.withLock { $0.noteNewRegistration(at: provider) } }
        }
    }

    /// Checks for an operator's decisions while logins wait for one, so that they are renewed at once.
    func noticeDecisions(_ plan: inout Plan) async {
        let (isAnyUndecided, from) = state.withLock { (!$0.undecided.isEmpty, $0.decisionsAfter) }
        guard isAnyUndecided else { return state.withLock { $0.decisionsAfter = nil } }
        plan.pause = min(plan.pause, SchedulerState.decisionInterval)
        guard let head = try? await vault.store.auditHead() else { return }
        guard var after = from else { return state.withLock { $0.decisionsAfter = head } }
        // A trail that has become shorter is another one.
        if head < after || head - after > Self.mostRows {
            return state.withLock { state in
                state.noteDecision(about: nil)
                state.decisionsAfter = head
            }
        }
        while after < head {
            guard let rows = try? await vault.store.auditEntries(after: after, limit: 256), let last = rows.last else {
                return
            }
            after = last.sequence
            state.withLock { [after] state in
                for row in rows where Self.decisions.contains(row.kind) { state.noteDecision(about: row.login) }
                state.decisionsAfter = after
            }
        }
    }
}
