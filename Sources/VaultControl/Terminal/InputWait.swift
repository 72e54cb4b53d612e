import Platform
import Synchronization

/// Waiting for a person or a pipe: the state that a signal needs to end the program cleanly.
enum InputWait {
    private struct State {
        var depth = 0
        var isInterrupted = false
        var echo: TerminalEcho?
        var prompt: String?
    }

    private static let state = Mutex(State())

    /// Records a signal: from now on nothing waits. Returns whether something waits already.
    static func interrupt() -> Bool {
        state.withLock { state in
            state.isInterrupted = true
            return state.depth > 0
        }
    }

    /// Runs `body`, which reads. A read cannot be cancelled: so a signal either comes before it and prevents it, or
    /// interrupts it and ends the program.
    static func during<R>(_ body: () throws -> R) throws -> R {
        let isInterrupted = state.withLock { state in
            state.depth += 1
            return state.isInterrupted
        }
        defer { state.withLock { $0.depth -= 1 } }
        guard !isInterrupted else { throw CancellationError() }
        return try body()
    }

    /// Runs `body` with the terminal's echo off, and restores the terminal.
    ///
    /// - Parameter prompt: written before `body`, and again when a stopped program continues.
    static func withoutEcho<R>(
        _ terminal: BorrowedDescriptor, prompt: String, on console: Console, _ body: () throws -> R
    ) throws
        -> R
    {
        silence(terminal)
        defer { restoreTerminal() }
        // Before it is written: who sees the prompt may stop the program at once.
        state.withLock { $0.prompt = prompt }
        // Not earlier: text typed at once would be shown, and then discarded by the change of the terminal.
        try console.write(prompt, to: .error)
        return try during(body)
    }

    /// Turns the terminal's echo off until ``restoreTerminal()``.
    static func silence(_ terminal: BorrowedDescriptor) {
        guard let echo = TerminalEcho(of: terminal) else { return }
        state.withLock { $0.echo = echo }
        echo.turnOff()
    }

    /// Called when the program continues after a stop, as by Ctrl-Z: the shell may have changed the terminal's
    /// settings, and the prompt is far above.
    static func resume(on console: Console) {
        let prompt = state.withLock { state -> String? in
            guard let echo = state.echo, let prompt = state.prompt else { return nil }
            echo.turnOff()
            return prompt
        }
        if let prompt { try? console.write("\r" + prompt, to: .error) }
    }

    static func restoreTerminal() {
        state.withLock { state in
            guard let echo = state.echo else { return }
            echo.restore()
            state.echo = nil
            state.prompt = nil
        }
    }
}
