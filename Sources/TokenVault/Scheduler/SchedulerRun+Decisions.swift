import Synchronization
import VaultStorage

extension SchedulerRun {
    /// What may let a login be renewed that could not be before.
    private static let decisions: Set<AuditKind> = [
        .restoreAccepted, .importAccepted, .importReturned, .providerAdded, .providerUpdated, .loginRevived,
        .loggedInAgain,
        .clientRegistered, .clientRegistrationChanged, .witnessReplaced, .userEnabled,
    ]
    /// More rows than this are not read: then everything counts as decided.
    private static let mostRows: Int64 = 4_096

    /// Looks for decisions of an operator while logins rest until there is one, so that they are renewed at once.
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
