import Glibc
import Synchronization

/// Waiting for a person or a pipe: what a signal must know to end the program cleanly.
enum InputWait {
    private struct State {
        var depth = 0
        var isInterrupted = false
        var descriptor: Int32 = -1
        var original: termios?
    }

    private static let state = Mutex(State())

    /// Notes that a signal came: from now on nothing waits. Returns whether something waits already.
    static func interrupt() -> Bool {
        state.withLock { state in
            state.isInterrupted = true
            return state.depth > 0
        }
    }

    /// Runs `body`, which reads. A read cannot be cancelled: so a signal either comes before and prevents it, or finds it
    /// under way and ends the program.
    static func during<R>(_ body: () throws -> R) throws -> R {
        let isInterrupted = state.withLock { state in
            state.depth += 1
            return state.isInterrupted
        }
        defer { state.withLock { $0.depth -= 1 } }
        guard !isInterrupted else { throw CancellationError() }
        return try body()
    }

    /// Runs `body` with the terminal's echo off, and puts the terminal back as it was.
    static func withoutEcho<R>(_ descriptor: Int32, _ body: () throws -> R) throws -> R {
        silence(descriptor)
        defer { restoreTerminal() }
        return try during(body)
    }

    /// Turns the terminal's echo off until ``restoreTerminal()``.
    static func silence(_ descriptor: Int32) {
        var original = termios()
        guard unsafe tcgetattr(descriptor, &original) == 0 else { return }
        var silent = original
        silent.c_lflag &= ~tcflag_t(ECHO)
        silent.c_lflag |= tcflag_t(ECHONL)
        state.withLock { state in
            state.descriptor = descriptor
            state.original = original
        }
        unsafe tcsetattr(descriptor, TCSAFLUSH, &silent)
    }

    static func restoreTerminal() {
        state.withLock { state in
            guard var original = state.original else { return }
            unsafe tcsetattr(state.descriptor, TCSAFLUSH, &original)
            state.original = nil
        }
    }
}
