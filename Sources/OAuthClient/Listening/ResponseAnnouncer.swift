package import FoundationEssentials
import Synchronization

/// Delivers responses to a listener, in order and in the background.
package final class ResponseAnnouncer: Sendable {
    /// The maximum number of waiting responses: with secret bodies, each may hold a quarter of a megabyte.
    package static let capacity = 256

    private struct State {
        var waiting: [TokenEndpointResponse] = []
        var isDelivering = false
        var leftOut = 0
    }

    private let listener: any TokenEndpointResponseListener
    private let revealsSecretBodies: Bool
    private let state = Mutex(State())

    /// Nil without a listener.
    package init?(_ listener: (any TokenEndpointResponseListener)?, revealsSecretBodies: Bool) {
        guard let listener else { return nil }
        self.listener = listener
        self.revealsSecretBodies = revealsSecretBodies
    }

    /// A transport for one operation that records the replies until they are announced.
    package func recorder(
        of operation: TokenEndpointResponse.Operation, over transport: any HTTPTransport,
        now: @escaping @Sendable () -> Date
    ) -> ResponseRecorder {
        ResponseRecorder(
            operation, over: transport, keepsBodies: revealsSecretBodies, now: now, announcer: self)
    }

    func announce(_ responses: [TokenEndpointResponse]) {
        let mustStart = state.withLock { state in
            for var response in responses {
                guard state.waiting.count < Self.capacity else {
                    state.leftOut += 1
                    continue
                }
                response.leftOutBefore = state.leftOut
                state.leftOut = 0
                state.waiting.append(response)
            }
            guard !state.isDelivering, !state.waiting.isEmpty else { return false }
            state.isDelivering = true
            return true
        }
        if mustStart { Task { await self.deliver() } }
    }

    private func deliver() async {
        while let next = next() {
            // Errors of a listener are ignored.
            try? await listener.tokenEndpointResponded(next)
        }
    }

    private func next() -> TokenEndpointResponse? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isDelivering = false
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}
