import Synchronization
import VaultStorage

/// One renewal in flight and those who wait for it.
///
/// The work is a task of the context. Waiters come and go; none of them can end it, except that work which nobody wants
/// any more may be told so.
final class Flight: Sendable {
    typealias Ending = RenewalMachine.Ending

    enum Wait: Equatable, Sendable {
        case ended(Ending)
        /// The new tokens are in the spool, and the vault cannot take them yet.
        case spooled(SpooledReply)
        case cancelled
        case deadlinePassed
    }

    private enum Waiter {
        /// Counted, and about to wait.
        case arriving
        case waiting(Suspended, accepts: @Sendable (SpooledReply) -> Bool)
        /// His wait was over before it began.
        case settled(Wait)
    }

    private struct Suspended {
        let continuation: CheckedContinuation<Wait, Never>
        let work: WorkToken?

        func resume(_ wait: Wait) {
            work?.endWait()
            continuation.resume(returning: wait)
        }
    }

    /// What the renewal brings a token for.
    let target: TokenTarget

    private struct State {
        var ending: Ending?
        var hasNewSecret = false
        var spooled: SpooledReply?
        var waiters: [Int: Waiter] = [:]
        var joined = 0
        var cancelled = 0
        var onAbandon: (@Sendable () -> Void)?
        var onCaller: (@Sendable () -> Void)?
        var hasCaller = false
    }

    private let state = Mutex(State())

    init(target: TokenTarget = .own) {
        self.target = target
    }

    /// The provider refused this client, and then took it with another secret: the next renewal may succeed.
    func noteNewSecret() {
        state.withLock { $0.hasNewSecret = true }
    }

    var hasNewSecret: Bool { state.withLock { $0.hasNewSecret } }

    /// What to do when every caller that ever waited has been cancelled. Runs at most once.
    func onAbandon(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.onAbandon = action }
    }

    /// What to do once somebody waits for a token, and not only the scheduler for its work. Runs at most once.
    func onCaller(_ action: @escaping @Sendable () -> Void) {
        let runsNow = state.withLock { state in
            if !state.hasCaller { state.onCaller = action }
            return state.hasCaller
        }
        if runsNow { action() }
    }

    /// Counts one who is going to wait.
    ///
    /// - Parameter isCaller: for a token.
    func join(isCaller: Bool = true) -> Int {
        let (id, action) = state.withLock { state in
            state.joined += 1
            state.waiters[state.joined] = .arriving
            guard isCaller, !state.hasCaller else { return (state.joined, nil as (@Sendable () -> Void)?) }
            state.hasCaller = true
            defer { state.onCaller = nil }
            return (state.joined, state.onCaller)
        }
        action?()
        return id
    }

    /// Waits for the end, the caller's cancellation or his deadline, whichever comes first; or for tokens that are safe
    /// though not stored, if they are good enough for him.
    func wait(
        as id: Int, deadline: Duration?, timeSource: any TimeSource,
        accepts: @escaping @Sendable (SpooledReply) -> Bool = { _ in false }
    ) async -> Wait {
        let alarm = deadline.map { timeSource.alarm(after: $0) { self.settle(id, .deadlinePassed) } }
        defer { alarm?.cancel() }
        let work = WorkToken.current
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let early: Wait? = state.withLock { state in
                    if let ending = state.ending { return .ended(ending) }
                    if case .settled(let wait)? = state.waiters[id] {
                        state.waiters[id] = nil
                        return wait
                    }
                    if let reply = state.spooled, accepts(reply) {
                        state.waiters[id] = nil
                        return .spooled(reply)
                    }
                    work?.beginWait()
                    state.waiters[id] = .waiting(
                        Suspended(continuation: continuation, work: work), accepts: accepts)
                    return nil
                }
                if let early { continuation.resume(returning: early) }
            }
        } onCancel: {
            cancelWait(id)
        }
    }

    func end(_ ending: Ending) {
        let waiters = state.withLock { state in
            state.ending = ending
            state.onAbandon = nil
            state.onCaller = nil
            defer { state.waiters = [:] }
            return state.waiters.values.map { $0 }
        }
        for case .waiting(let waiter, _) in waiters { waiter.resume(.ended(ending)) }
    }

    /// Lets those go whom these tokens serve, and whoever comes until the end.
    func serve(_ reply: SpooledReply) {
        let served = state.withLock { state in
            state.spooled = reply
            var served: [Suspended] = []
            for (id, waiter) in state.waiters {
                guard case .waiting(let suspended, let accepts) = waiter, accepts(reply) else { continue }
                state.waiters[id] = nil
                served.append(suspended)
            }
            return served
        }
        for waiter in served { waiter.resume(.spooled(reply)) }
    }

    private func cancelWait(_ id: Int) {
        let action: (@Sendable () -> Void)? = state.withLock { state in
            guard state.ending == nil else { return nil }
            state.cancelled += 1
            guard state.cancelled == state.joined else { return nil }
            defer { state.onAbandon = nil }
            return state.onAbandon
        }
        settle(id, .cancelled)
        action?()
    }

    private func settle(_ id: Int, _ wait: Wait) {
        let waiter: Suspended? = state.withLock { state in
            switch state.waiters[id] {
            case .waiting(let suspended, _):
                state.waiters[id] = nil
                return suspended
            case .arriving:
                state.waiters[id] = .settled(wait)
                return nil
            case .settled, nil:
                return nil
            }
        }
        waiter?.resume(wait)
    }
}
