import Synchronization

/// A progress bar on a terminal; elsewhere one line, if it takes long.
final class CountingProgress: Sendable {
    private let title: String
    private let bar: Progress
    private let invocation: Invocation
    /// Printed where there is no bar.
    private let advice: String
    private let started = ContinuousClock.now
    private let hasTold = Atomic<Bool>(false)

    init(_ title: String, advice: String = "", _ invocation: Invocation) {
        self.invocation = invocation
        self.advice = advice
        self.title = title
        bar = Progress(title, on: invocation.console, isQuiet: invocation.isQuiet)
    }

    func update(done: Int, total: Int) {
        if invocation.console.isRich(.error) {
            // A short count needs no bar.
            if ContinuousClock.now - started > .milliseconds(300) { bar.update(done: done, total: total) }
        } else if ContinuousClock.now - started > .seconds(3), !hasTold.exchange(true, ordering: .relaxed) {
            invocation.note("\(title): \(total)\(advice)")
        }
    }

    func finish() { bar.finish() }
}
