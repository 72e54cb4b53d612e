import Synchronization

/// The installed ``SessionHandler``, and the questions that it has not answered.
final class SessionHandlers: Sendable {
    struct Installed: Sendable {
        let handler: any SessionHandler
        fileprivate let number: Int
    }

    private struct State {
        var handler: (any SessionHandler)?
        var number = 0
        var nextQuestion = 0
        var open: [Int: OneAnswer<SessionAnswer>] = [:]
    }

    private let state: Mutex<State>

    init(_ handler: (any SessionHandler)?) {
        state = Mutex(State(handler: handler))
    }

    var installed: Installed? {
        state.withLock { state in state.handler.map { Installed(handler: $0, number: state.number) } }
    }

    var isInstalled: Bool { state.withLock { $0.handler != nil } }

    /// Installs a handler. Questions that the previous one has not answered become void.
    func install(_ handler: (any SessionHandler)?) {
        let open = state.withLock { state in
            state.handler = handler
            state.number += 1
            defer { state.open = [:] }
            return state.open.values.map { $0 }
        }
        for answer in open { answer.give(.handlerReplaced) }
    }

    /// Nil if another handler was installed since.
    func begin(_ answer: OneAnswer<SessionAnswer>, for installed: Installed) -> Int? {
        state.withLock { state in
            guard state.number == installed.number else { return nil }
            state.nextQuestion += 1
            state.open[state.nextQuestion] = answer
            return state.nextQuestion
        }
    }

    func end(_ question: Int) {
        state.withLock { _ = $0.open.removeValue(forKey: question) }
    }
}
