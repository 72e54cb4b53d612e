import Synchronization

/// Lets requests whose nonce was refused go to one server one after the other.
///
/// A server may change its nonce every few uses. Of many requests at the same time most then come with one that is used
/// up, and their repeats meet each other in the same way. Behind the gate each repeat has the nonce of the reply before
/// it.
final class ProofGate: Sendable {
    private struct Queue {
        var waiters: [(id: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    }

    private struct State {
        /// A place is here while a request is behind its gate.
        var queues: [String: Queue] = [:]
        var lastID = 0
        /// Requests that were cancelled before they could wait.
        var cancelled: Set<Int> = []
    }

    private let state = Mutex(State())

    /// Runs `body` alone for this place.
    func pass<R>(_ place: String, _ body: () async throws -> R) async throws -> R {
        guard await enter(place) else { throw CancellationError() }
        defer { leave(place) }
        return try await body()
    }

    private func enter(_ place: String) async -> Bool {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        // A cancellation that comes when the place was already given leaves nothing behind.
        defer { state.withLock { _ = $0.cancelled.remove(id) } }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return false }
                    guard state.queues[place] != nil else {
                        state.queues[place] = Queue()
                        return true
                    }
                    state.queues[place]?.waiters.append((id, continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { state -> CheckedContinuation<Bool, Never>? in
                guard let index = state.queues[place]?.waiters.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return nil
                }
                return state.queues[place]?.waiters.remove(at: index).continuation
            }
            waiter?.resume(returning: false)
        }
    }

    private func leave(_ place: String) {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard let queue = state.queues[place], !queue.waiters.isEmpty else {
                state.queues[place] = nil
                return nil
            }
            return state.queues[place]?.waiters.removeFirst().continuation
        }
        next?.resume(returning: true)
    }
}
