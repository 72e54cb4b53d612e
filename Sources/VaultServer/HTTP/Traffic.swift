import Metrics
import Synchronization

/// Counts the requests of each client.
final class Traffic: Sendable {
    private struct Series: Hashable {
        let client: String
        let operation: String
        let status: Int
    }

    private struct State {
        var underWay: [String: Int] = [:]
        var counters: [Series: Counter] = [:]
    }

    private let factory: (any MetricsFactory)?
    private let state = Mutex(State())

    init(_ factory: (any MetricsFactory)?) { self.factory = factory }

    /// False: this client has as many under way as it may.
    func begin(_ client: String, atMost most: Int) -> Bool {
        state.withLock { state in
            let count = state.underWay[client] ?? 0
            guard count < most else { return false }
            state.underWay[client] = count + 1
            return true
        }
    }

    func end(_ client: String) {
        state.withLock { state in
            let count = (state.underWay[client] ?? 1) - 1
            state.underWay[client] = count > 0 ? count : nil
        }
    }

    func count(_ client: String, _ operation: String, _ status: Int) {
        guard let factory else { return }
        let series = Series(client: client, operation: operation, status: status)
        let counter = state.withLock { state in
            if let counter = state.counters[series] { return counter }
            let counter = Counter(
                label: "token_vault_serve_requests",
                dimensions: [("client", client), ("operation", operation), ("status", String(status))],
                factory: factory)
            state.counters[series] = counter
            return counter
        }
        counter.increment()
    }
}
