import NIOCore
import NIOHTTP1
import OAuthClient
import Synchronization

/// What the connections of one listener share.
final class RedirectExchange: Sendable {
    static let maximumConnections = 32

    private struct State {
        var desk: RedirectDesk
        var connections: [ObjectIdentifier: any Channel] = [:]
    }

    let resultPath: String
    private let path: String
    private let state: Mutex<State>
    private let answer: EventLoopPromise<LoopbackCallback>
    private let result: EventLoopPromise<RedirectPage>
    /// Kept when a browser has seen the result.
    private let delivery: EventLoopPromise<Void>
    private let eventLoop: any EventLoop

    init(path: String, on eventLoop: any EventLoop) {
        self.path = path
        self.eventLoop = eventLoop
        resultPath = "/done/" + Self.randomText()
        state = Mutex(State(desk: RedirectDesk(path: path, resultPath: resultPath, authorities: [])))
        answer = eventLoop.makePromise()
        result = eventLoop.makePromise()
        delivery = eventLoop.makePromise()
    }

    func open(authorities: Set<String>) {
        state.withLock { $0.desk = RedirectDesk(path: path, resultPath: resultPath, authorities: authorities) }
    }

    /// Whether one more connection is accepted.
    func admit(_ channel: any Channel) -> Bool {
        let key = ObjectIdentifier(channel)
        let isAdmitted = state.withLock { state in
            guard state.connections.count < Self.maximumConnections else { return false }
            state.connections[key] = channel
            return true
        }
        if isAdmitted {
            channel.closeFuture.whenComplete { _ in self.state.withLock { $0.connections[key] = nil } }
        }
        return isAdmitted
    }

    var connections: [any Channel] { state.withLock { Array($0.connections.values) } }

    func expect(_ expected: AuthorizationState) -> EventLoopFuture<LoopbackCallback> {
        state.withLock { $0.desk.expect(expected) }
        return answer.futureResult
    }

    func receive(_ head: HTTPRequestHead) -> RedirectDesk.Step {
        let step = state.withLock { $0.desk.receive(head) }
        if case .accept(let callback) = step {
            answer.succeed(callback)
        }
        return step
    }

    /// How the log-in ended; a promise until it is known.
    var outcome: EventLoopFuture<RedirectPage> { result.futureResult }

    func delivered() {
        delivery.succeed(())
    }

    /// The wait for an answer has ended.
    func giveUp() {
        state.withLock { $0.desk.close() }
        answer.fail(CancellationError())
    }

    /// Returns when a browser that has brought the answer has the page, or its time is up.
    func show(_ page: RedirectPage, patience: TimeAmount) async {
        giveUp()
        result.succeed(page)
        guard await hasAnswer() else { return }
        let timer = eventLoop.scheduleTask(in: patience) { self.delivered() }
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

    /// Whether the browser brought the answer; known, because ``giveUp()`` came before.
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
