import Dispatch
import Glibc
import Synchronization

/// Ends the program on SIGINT, SIGTERM and SIGHUP without leaving anything half done.
///
/// The first signal cancels the command: a renewal that was sent is finished and stored before the program ends. A second
/// one, or one that comes while the program waits for input, ends it at once, with the terminal's echo restored.
struct Interrupts {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]

    private final class Record: Sendable {
        let signal = Mutex<Int32?>(nil)
    }

    private let record = Record()
    private let sources: [any DispatchSourceSignal]

    init(on console: Console, cancel: @escaping @Sendable () -> Void) {
        sources = Self.signals.map { number in
            signal(number, SIG_IGN)
            return DispatchSource.makeSignalSource(signal: number, queue: .global())
        }
        for (source, number) in zip(sources, Self.signals) {
            source.setEventHandler { [record] in
                let isFirst = record.signal.withLock { earlier in
                    defer { earlier = number }
                    return earlier == nil
                }
                let isWaiting = InputWait.interrupt()
                if !isFirst || isWaiting {
                    InputWait.restoreTerminal()
                    _exit(128 + number)
                }
                cancel()
                DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(500)) {
                    try? console.write("vaultctl: finishing what is under way; again to stop at once\n", to: .error)
                }
            }
            source.resume()
        }
    }

    /// What the shell expects of a program that ended because of a signal; nil if none came.
    var exitCode: Int32? {
        record.signal.withLock { $0.map { 128 + $0 } }
    }
}
