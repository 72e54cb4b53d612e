import Synchronization
import VaultStorage

/// One renewal in flight and its waiting callers.
///
/// The work is a task of the engine. Waiters come and go; none of them can end it, but the work may be notified when
/// none of them wants it any longer.
final class Flight: Sendable {
    typealias Ending = RenewalMachine.Ending

    enum Wait: Equatable, Sendable {
        case ended(Ending)
        /// The new tokens are in the spool, and the vault cannot take them yet.
        case spooled(SpooledReply)
        case cancelled
        case deadlinePassed
    }

    /// One waiter's entry.
    struct Waiter: Sendable {
        fileprivate let id: Int
        fileprivate let answer = OneAnswer<Wait>()
    }

    private struct Waiting {
        let answer: OneAnswer<Wait>
        /// Which spooled tokens are good enough for this waiter.
        var accepts: @Sendable (SpooledReply) -> Bool = { _ in false }
    }

    /// The target of the renewed token.
    let target: TokenTarget

    private struct State {
        var ending: Ending?
        var hasNewSecret = false
        var spooled: SpooledReply?
        var waiters: [Int: Waiting] = [:]
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

    /// The provider refused this client, and then accepted another of its secrets: the next renewal may succeed.
    func noteNewSecret() {
        state.withLock { $0.hasNewSecret = true }
    }

    var hasNewSecret: Bool { state.withLock { $0.hasNewSecret } }

    /// Sets the action for when every caller that ever waited has been cancelled. Runs at most once.
    func onAbandon(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.onAbandon = action }
    }

    /// Sets the action for when a caller waits for a token, and not only the scheduler for its work. Runs at most once.
    func onCaller(_ action: @escaping @Sendable () -> Void) {
        let runsNow = state.withLock { state in
            if !state.hasCaller { state.onCaller = action }
            return state.hasCaller
        }
        if runsNow { action() }
    }

    /// Counts a new waiter.
    ///
    /// - Parameter isCaller: Whether it waits for a token.
    func join(isCaller: Bool = true) -> Waiter {
        let (waiter, action) = state.withLock { state in
            state.joined += 1
            let waiter = Waiter(id: state.joined)
            state.waiters[waiter.id] = Waiting(answer: waiter.answer)
            guard isCaller, !state.hasCaller else { return (waiter, nil as (@Sendable () -> Void)?) }
            state.hasCaller = true
            defer { state.onCaller = nil }
            return (waiter, state.onCaller)
        }
        action?()
        return waiter
    }

    /// Waits for the end, the caller's cancellation or the deadline, whichever comes first; or for tokens that are safe
    /// though not stored, if they are good enough for the caller.
    func wait(
        as waiter: Waiter, deadline: Duration?, timeSource: any TimeSource,
        accepts: @escaping @Sendable (SpooledReply) -> Bool = { _ in false }
    ) async -> Wait {
        // Existing tokens are also for a caller that waits for no time at all.
        let served = state.withLock { state -> SpooledReply? in
            state.waiters[waiter.id]?.accepts = accepts
            return state.spooled.flatMap { accepts($0) ? $0 : nil }
        }
        if let served { settle(waiter, .spooled(served)) }
        let alarm = deadline.map { timeSource.alarm(after: $0) { self.settle(waiter, .deadlinePassed) } }
        defer { alarm?.cancel() }
        return await withTaskCancellationHandler {
            await waiter.answer.value()
        } onCancel: {
            cancelWait(waiter)
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
        for waiter in waiters { waiter.answer.give(.ended(ending)) }
    }

    /// Resumes the waiters that these tokens serve, now and until the end.
    func serve(_ reply: SpooledReply) {
        let served = state.withLock { state in
            state.spooled = reply
            let served = state.waiters.filter { $0.value.accepts(reply) }
            for id in served.keys { state.waiters[id] = nil }
            return served
        }
        for waiter in served.values { waiter.answer.give(.spooled(reply)) }
    }

    private func cancelWait(_ waiter: Waiter) {
        let action: (@Sendable () -> Void)? = state.withLock { state in
            guard state.ending == nil else { return nil }
            state.cancelled += 1
            guard state.cancelled == state.joined else { return nil }
            defer { state.onAbandon = nil }
            return state.onAbandon
        }
        settle(waiter, .cancelled)
        action?()
    }

    private func settle(_ waiter: Waiter, _ wait: Wait) {
        state.withLock { _ = $0.waiters.removeValue(forKey: waiter.id) }
        waiter.answer.give(wait)
    }
}
