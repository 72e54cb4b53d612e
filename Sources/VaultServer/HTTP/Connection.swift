import NIOCore
import Platform
import Synchronization

/// An open connection, and what the kernel says of the process at its other end.
final class Connection: Sendable {
    let peer: PeerCredentials
    /// The name of the socket that it came to.
    let socket: String
    let channel: any Channel

    private struct State {
        var isBusy = false
        /// Whether a request has come.
        var hasAsked = false
        var idleSince = ContinuousClock.now
        var stream: Task<Void, any Error>?
        var isEnding = false
        /// When the body that is being read must have come.
        var bodyDeadline: ContinuousClock.Instant?
        /// Of requests that have come and are not answered yet.
        var heads: [HeadReader.Facts] = []
    }

    private let state = Mutex(State())

    init(_ peer: PeerCredentials, _ socket: String, _ channel: any Channel) {
        self.peer = peer
        self.socket = socket
        self.channel = channel
    }

    /// Since when it has had no request under way; nil: it has one.
    var idleSince: ContinuousClock.Instant? { state.withLock { $0.isBusy ? nil : $0.idleSince } }

    /// Whether no request has come.
    var isSilent: Bool { state.withLock { !$0.hasAsked } }

    func note(_ head: HeadReader.Facts) {
        state.withLock { state in
            state.hasAsked = true
            state.heads.append(head)
        }
    }

    /// Begins with the next request.
    func begin() -> HeadReader.Facts {
        state.withLock { state in
            state.isBusy = true
            var facts = state.heads.isEmpty ? HeadReader.Facts() : state.heads.removeFirst()
            if state.isEnding { facts.keepsAlive = false }
            return facts
        }
    }

    func end() {
        state.withLock { state in
            state.isBusy = false
            state.idleSince = .now
        }
    }

    /// The body of its request must have come by then; nil: it has.
    func expectBody(by deadline: ContinuousClock.Instant?) { state.withLock { $0.bodyDeadline = deadline } }

    func isSlow(at now: ContinuousClock.Instant) -> Bool {
        state.withLock { $0.bodyDeadline.map { $0 < now } ?? false }
    }

    func close() { channel.close(promise: nil) }

    /// Lets the request under way be answered, or the first one if none has come yet, and closes the connection then. An
    /// answer that lasts ends at once.
    func finish() {
        let (stream, hasAsked) = state.withLock { state in
            state.isEnding = true
            return (state.stream, state.hasAsked)
        }
        stream?.cancel()
        guard hasAsked else { return }
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }

    /// Begins what lasts until the client has gone, or the server stops: then it is cancelled.
    func stream(_ body: @escaping @Sendable () async throws -> Void) -> Task<Void, any Error> {
        let task = Task { try await body() }
        let isEnding = state.withLock { state in
            state.stream = task
            return state.isEnding
        }
        if isEnding { task.cancel() }
        return task
    }
}
