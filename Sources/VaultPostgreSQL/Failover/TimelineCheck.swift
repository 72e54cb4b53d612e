import Platform
import Synchronization
import VaultStorage

/// Changes nothing: it makes the writer check the server's timeline.
final class TimelineCheck: WriteOperation {
    let comesAfterCommit = false
    private let failure = Mutex<StoreError?>(nil)
    private let end = ThreadSignal()

    func run(_ transaction: WriteTransaction) throws {}

    func finish(_ failure: StoreError?) {
        self.failure.withLock { $0 = failure }
        end.send()
    }

    func wait() throws(StoreError) {
        end.wait()
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
