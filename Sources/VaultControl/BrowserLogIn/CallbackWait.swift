import LoopbackRedirect
import OAuthClient

/// Waits for the answer to a log-in: from the browser, or pasted by a person, whichever comes first.
struct CallbackWait {
    let listener: LoopbackRedirectListener
    let state: AuthorizationState
    let timeout: Duration
    let console: Console

    /// A log-in that takes longer was given up by its user.
    static let longest = Duration.seconds(3_600)

    private enum Arrival {
        case answer(LoopbackCallback)
        case nothingMoreToPaste
        case timeout
    }

    func answer() async throws -> LoopbackCallback {
        try await withThrowingTaskGroup(of: Arrival.self) { group in
            defer { group.cancelAll() }
            group.addTask { .answer(try await listener.callback(answering: state)) }
            group.addTask {
                try await Task.sleep(for: timeout)
                return .timeout
            }
            if console.inputIsTerminal {
                group.addTask { try await pasted().map { .answer($0) } ?? .nothingMoreToPaste }
            }
            while let arrival = try await group.next() {
                switch arrival {
                case .answer(let callback): return callback
                case .timeout: throw timedOut
                case .nothingMoreToPaste: continue
                }
            }
            throw CancellationError()
        }
    }

    /// The first line that answers this log-in; nil if none does.
    private func pasted() async throws -> LoopbackCallback? {
        // Once for all lines: changing the terminal discards what was typed ahead.
        InputWait.silence(console.input)
        defer { InputWait.restoreTerminal() }
        while let line = try await TimedLineReader(descriptor: console.input).line() {
            let text = line.trimmed
            guard !text.isEmpty else { continue }
            if let callback = LoopbackCallback(text), callback.answers(state) { return callback }
            try console.write(
                "That is not the address for this log-in, which begins with \(listener.redirectURI)?\n", to: .error)
        }
        return nil
    }

    private var timedOut: Failure {
        Failure(
            .provider, code: "timedOut", "no browser came back within \(Instant.duration(timeout.inSeconds))",
            hints: [
                timeout < .seconds(900)
                    ? "try again; to wait longer, use --timeout 15m"
                    : timeout < Self.longest ? "try again; to wait longer, use --timeout 1h" : "try again",
                "if the browser ended at an address of this machine: vaultctl login complete --callback-url -",
            ])
    }
}

extension String {
    fileprivate var trimmed: String {
        let isBlank: (Character) -> Bool = { $0.isWhitespace }
        return String(drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
}

extension Duration {
    var inSeconds: Double { Double(components.seconds) }
}
