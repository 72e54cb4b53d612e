import Synchronization
import VaultCrypto

@testable import VaultStorage

/// A change by a batch of a test's own, and what its caller was told.
final class TestedOperation: WriteOperation {
    private let body: @Sendable (WriteTransaction) throws -> Void
    private let thrown = Mutex<(any Error)?>(nil)
    /// nil: not told yet.
    private let failure = Mutex<StoreError??>(nil)
    let runs = Atomic<Int>(0)

    let prefetchHint: PrefetchHint

    init(
        _ prefetchHint: PrefetchHint = .nothing, _ body: @escaping @Sendable (WriteTransaction) throws -> Void
    ) {
        self.prefetchHint = prefetchHint
        self.body = body
    }

    static func relabel(_ login: LoginHandle, _ label: String) -> TestedOperation {
        TestedOperation(.rows(.login, login.bytes)) { try $0.updateLogin(login) { $0.session.label = label } }
    }

    var comesAfterCommit: Bool { false }

    func run(_ transaction: WriteTransaction) throws {
        runs.add(1, ordering: .relaxed)
        thrown.withLock { $0 = nil }
        do {
            try body(transaction)
            try transaction.tables.settle()
        } catch {
            thrown.withLock { $0 = error }
            throw error
        }
    }

    func finish(_ failure: StoreError?) { self.failure.withLock { $0 = .some(failure) } }

    /// nil: the caller was told nothing.
    var isStored: Bool? {
        guard let failure = failure.withLock({ $0 }) else { return nil }
        return failure == nil && thrown.withLock { $0 == nil }
    }
}
