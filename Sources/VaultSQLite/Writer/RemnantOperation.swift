import VaultStorage

/// Removes remnants of failed commits from the WAL.
final class RemnantOperation: WriteOperation {
    private let path: String
    private let continuation: CheckedContinuation<Remnants, Never>

    init(_ path: String, _ continuation: CheckedContinuation<Remnants, Never>) {
        self.path = path
        self.continuation = continuation
    }

    var comesAfterCommit: Bool { true }

    func run(_ transaction: WriteTransaction) {}

    func finish(_ failure: StoreError?) {
        switch failure {
        case nil: continuation.resume(returning: .gone)
        case let failure? where failure.code == .busy:
            continuation.resume(returning: .held(processes: WALLocks.readers(besideVaultAt: path)))
        case let failure?: continuation.resume(returning: .kept(failure))
        }
    }
}
