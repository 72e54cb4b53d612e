import NIOCore
import NIOHTTP1
import OAuthClient
import Synchronization

/// The state that the connections of one listener share.
final class RedirectExchange: Sendable {
    static let maximumConnections = 32

    private struct State {
        var desk: RedirectSession
        var connections: [Connection] = []
    }

    private struct Connection {
        let channel: any Channel
        /// Whether its request has not arrived yet.
        var isSilent = true
    }

    let resultPath: String
    let startPath: String
    private let path: String
    private let state: Mutex<State>
    private let answer: EventLoopPromise<LoopbackCallback>
    private let result: EventLoopPromise<RedirectPage>
    /// Fulfilled when a browser has seen the result.
    private let delivery: EventLoopPromise<Void>
    private let eventLoop: any EventLoop

    init(path: String, on eventLoop: any EventLoop) {
        self.path = path
        self.eventLoop = eventLoop
        resultPath = "/done/" + Self.randomText()
        startPath = "/open/" + Self.randomText()
        state = Mutex(
            State(desk: RedirectSession(path: path, resultPath: resultPath, startPath: startPath, authorities: [])))
        answer = eventLoop.makePromise()
        result = eventLoop.makePromise()
        delivery = eventLoop.makePromise()
    }

    func open(authorities: Set<String>) {
        state.withLock {
            $0.desk = RedirectSession(
                path: path, resultPath: resultPath, startPath: startPath, authorities: authorities)
        }
    }

    /// Whether one more connection is accepted. The oldest connection without a request makes room.
    func admit(_ channel: any Channel) -> Bool {
        let (isAdmitted, silent) = state.withLock { state -> (Bool, (any Channel)?) in
            var silent: (any Channel)?
            if state.connections.count >= Self.maximumConnections {
                guard let index = state.connections.firstIndex(where: \.isSilent) else { return (false, nil) }
                silent = state.connections.remove(at: index).channel
            }
            state.connections.append(Connection(channel: channel))
            return (true, silent)
        }
        silent?.close(promise: nil)
        if isAdmitted {
            channel.closeFuture.whenComplete { _ in
                self.state.withLock { $0.connections.removeAll { $0.channel === channel } }
            }
        }
        return isAdmitted
    }

    /// Notes that a request has arrived.
    func hears(_ channel: any Channel) {
        state.withLock { state in
            guard let index = state.connections.firstIndex(where: { $0.channel === channel }) else { return }
            state.connections[index].isSilent = false
        }
    }

    var connections: [any Channel] { state.withLock { $0.connections.map(\.channel) } }

    func lead(to url: String) { state.withLock { $0.desk.destination = url } }

    func expect(_ expected: AuthorizationState) -> EventLoopFuture<LoopbackCallback> {
        state.withLock { $0.desk.expect(expected) }
        return answer.futureResult
    }

    func receive(_ head: HTTPRequestHead) -> RedirectSession.Step {
        let step = state.withLock { $0.desk.receive(head) }
        if case .accept(let callback) = step {
            answer.succeed(callback)
        }
        return step
    }

    /// The result of the log-in, once it is known.
    var outcome: EventLoopFuture<RedirectPage> { result.futureResult }

    func delivered() {
        delivery.succeed(())
    }

    /// Ends the wait for an answer.
    func giveUp() {
        state.withLock { $0.desk.close() }
        answer.fail(CancellationError())
    }

    /// Returns when a browser that has brought the answer has the page, or its time is up.
    func show(_ page: RedirectPage, timeLimit: TimeAmount) async {
        giveUp()
        result.succeed(page)
        guard await hasAnswer() else { return }
        let timer = eventLoop.scheduleTask(in: timeLimit) { self.delivered() }
        try? await withTaskCancellationHandler {
            try await delivery.futureResult.get()
        } onCancel: {
            delivered()
        }
        timer.cancel()
    }

    func end(showing page: RedirectPage) {
        giveUp()
        result.succeed(page)
        delivered()
    }

    /// Whether the browser brought the answer. This is known, because ``giveUp()`` was called before.
    private func hasAnswer() async -> Bool {
        (try? await answer.futureResult.get()) != nil
    }

    /// 128 random bits.
    static func randomText() -> String {
        (0..<2).map { _ in
            let text = String(UInt64.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }.joined()
    }
}
