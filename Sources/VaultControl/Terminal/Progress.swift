import Synchronization

/// One line on standard error that shows the progress of long work; nothing unless that is a terminal.
final class Progress: Sendable {
    private struct State {
        var lastPercent = -1
        var isShown = false
    }

    private let console: Console
    private let title: String
    private let isShown: Bool
    private let state = Mutex(State())
    private let started = ContinuousClock.now

    init(_ title: String, on console: Console, isQuiet: Bool) {
        self.title = title
        self.console = console
        isShown = console.isRich(.error) && !isQuiet
    }

    /// A total of 0 means that it is not known yet.
    func update(done: Int, total: Int) {
        guard isShown else { return }
        let percent = total > 0 ? min(100, done * 100 / total) : 0
        let isNews = state.withLock { state in
            defer { state = State(lastPercent: percent, isShown: true) }
            return state.lastPercent != percent
        }
        guard isNews else { return }
        let filled = percent / 5
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 20 - filled)
        let elapsed = (ContinuousClock.now - started) / .seconds(1)
        let left = Self.left(done: done, total: total, elapsed: elapsed).map { ", \($0) left" } ?? ""
        try? console.write("\r\(title) \(bar) \(percent) %\(left)\u{1B}[K", to: .error)
    }

    /// The remaining time at this rate; nil in the first moments, whose rate is meaningless.
    static func left(done: Int, total: Int, elapsed: Double) -> String? {
        guard elapsed >= 2, done > 0, done < total else { return nil }
        return Instant.duration((elapsed / Double(done) * Double(total - done)).rounded(.up))
    }

    /// Removes the line.
    func finish() {
        guard state.withLock({ $0.isShown }) else { return }
        try? console.write("\r\u{1B}[K", to: .error)
    }
}
