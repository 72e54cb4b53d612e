import Metrics
import Synchronization

/// The results of calls for a token; listed in `docs/observability.md`.
///
/// A stored token costs one counter and nothing else: most calls end that way.
final class CallMetrics: Sendable {
    private let factory: (any MetricsFactory)?
    private let stored = Mutex<Counter?>(nil)
    private let waited = Mutex<Counter?>(nil)
    private let wait = Mutex<Timer?>(nil)
    private let errors = Mutex<[String: Counter]>([:])

    /// - Parameter factory: nil for the one that the process has chosen.
    init(_ factory: (any MetricsFactory)?) { self.factory = factory }

    private var source: any MetricsFactory { factory ?? MetricsSystem.factory }

    /// Counts a token that the vault had.
    func served() { increment(stored, "no") }

    /// Counts a token that had to be waited for.
    func served(after time: Duration) {
        increment(waited, "yes")
        record(time)
    }

    /// Counts and returns the error, to be thrown. A call that its own task has cancelled is not counted.
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

    /// Records how long a caller waited, whatever the result.
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
