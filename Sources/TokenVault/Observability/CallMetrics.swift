import Metrics
import Synchronization

/// What callers got who wanted a token; listed in `docs/observability.md`.
///
/// A stored token is counted without a look at anything but one counter: most calls are answered so.
final class CallMetrics: Sendable {
    private let factory: (any MetricsFactory)?
    private let stored = Mutex<Counter?>(nil)
    private let waited = Mutex<Counter?>(nil)
    private let wait = Mutex<Timer?>(nil)
    private let errors = Mutex<[String: Counter]>([:])

    /// - Parameter factory: nil for the one that the process has chosen.
    init(_ factory: (any MetricsFactory)?) { self.factory = factory }

    private var source: any MetricsFactory { factory ?? MetricsSystem.factory }

    /// A token that the vault had.
    func served() { increment(stored, "no") }

    /// A token that had to be waited for.
    func served(after time: Duration) {
        increment(waited, "yes")
        record(time)
    }

    /// Gives the error back, to be thrown. A call that its own task has cancelled is none.
    func failed(_ error: any Error) -> any Error {
        guard let error = error as? VaultError else { return error }
        let name = error.code.name
        let counter = errors.withLock { errors in
            if let counter = errors[name] { return counter }
            let counter = Counter(label: "token_vault_token_errors", dimensions: [("code", name)], factory: source)
            errors[name] = counter
            return counter
        }
        counter.increment()
        return error
    }

    /// How long a caller waited, whatever came of it.
    func record(_ time: Duration) {
        let timer = wait.withLock { wait in
            if let wait { return wait }
            let timer = Timer(label: "token_vault_token_wait_duration", dimensions: [], factory: source)
            wait = timer
            return timer
        }
        timer.record(time)
    }

    private func increment(_ counter: borrowing Mutex<Counter?>, _ waited: String) {
        let made = counter.withLock { counter in
            if let counter { return counter }
            let made = Counter(label: "token_vault_tokens_served", dimensions: [("waited", waited)], factory: source)
            counter = made
            return made
        }
        made.increment()
    }
}
