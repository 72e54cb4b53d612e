import Dispatch
import Platform
import Synchronization

/// Ends the program on SIGINT, SIGTERM and SIGHUP without leaving anything half done.
///
/// The first signal cancels the command: a renewal that was sent is finished and stored before the program ends.
/// Another signal at least a second later, or one that arrives while the program waits for input, ends it at once, with
/// the terminal's echo restored. A sooner one is the same signal sent twice: `timeout` signals its child and then the
/// whole group, and so do a terminal and a wrapper that forwards Ctrl-C.
struct Interrupts {
    private static let signals: [Signal] = [.interrupt, .terminate, .hangUp]

    private static let history = Mutex(SignalHistory())

    private let sources: [any DispatchSourceSignal]
    /// A stopped program continues.
    private let resumption = DispatchSource.makeSignalSource(signal: Signal.resume.number, queue: .global())

    /// What SIGHUP does instead, for a command that reads something again.
    static let hangUpAction = Mutex<(@Sendable () -> Void)?>(nil)

    init(on console: Console, cancel: @escaping @Sendable () -> Void) {
        sources = Self.signals.map { signal in
            signal.ignore()
            return DispatchSource.makeSignalSource(signal: signal.number, queue: .global())
        }
        resumption.setEventHandler { InputWait.resume(on: console) }
        resumption.resume()
        for (source, number) in zip(sources, Self.signals.map(\.number)) {
            source.setEventHandler {
                if number == Signal.hangUp.number, let action = Self.hangUpAction.withLock({ $0 }) { return action() }
                let meaning = Self.history.withLock { $0.take(number, at: .now) }
                let isWaiting = InputWait.interrupt()
                if meaning == .stopNow || isWaiting {
                    InputWait.restoreTerminal()
                    CurrentProcess.exitAtOnce(128 + number)
                }
                guard meaning == .stop else { return }
                cancel()
                DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1_000)) {
                    try? console.write(
                        "vaultctl: finishing the work in progress; signal again to stop at once\n", to: .error)
                }
            }
            source.resume()
        }
    }

    /// The exit code that a shell expects of a program ended by a signal; nil if no signal came.
    static var exitCode: Int32? {
        history.withLock { $0.first.map { 128 + $0.number } }
    }
}

/// The signals so far, and the meaning of each.
struct SignalHistory {
    enum Meaning: Equatable {
        /// Finish the work in progress, and end.
        case stop
        /// The same signal again.
        case echo
        /// Do not wait for anything.
        case stopNow
    }

    /// A person's second signal comes later than this.
    static let timeLimit = Duration.seconds(1)

    private(set) var first: (number: Int32, at: ContinuousClock.Instant)?

    mutating func take(_ number: Int32, at now: ContinuousClock.Instant) -> Meaning {
        guard let first else {
            first = (number, now)
            return .stop
        }
        return first.at.duration(to: now) < Self.timeLimit ? .echo : .stopNow
    }
}
