import VaultStorage

/// One caller's change, on its way to the writer thread and back.
class WriteOperation: @unchecked Sendable {
    /// Runs inside the transaction and keeps its result. Throws what the body threw.
    func run(_ transaction: WriteTransaction) throws {}

    /// Whether it is no change, but wants the WAL to be cut off once all changes are committed.
    var comesAfterCommit: Bool { false }

    /// Tells the caller. `failure` is what became of the transaction as a whole.
    func finish(_ failure: StoreError?) {}
}

/// The operation of a body that gives an `R`. Each of its parts is used by one thread at a time.
final class BodyOperation<R: Sendable>: WriteOperation, @unchecked Sendable {
    private var body: (@Sendable (WriteTransaction) throws -> R)?
    private let continuation: CheckedContinuation<R, any Error>
    private var result: Result<R, any Error>?

    init(
        _ continuation: CheckedContinuation<R, any Error>, _ body: @escaping @Sendable (WriteTransaction) throws -> R
    ) {
        self.continuation = continuation
        self.body = body
    }

    override func run(_ transaction: WriteTransaction) throws {
        guard let body else { return }
        do {
            result = .success(try body(transaction))
        } catch {
            result = .failure(error)
            throw error
        }
    }

    /// What the body holds on to is let go before the caller goes on: it may be the last reference to the vault.
    override func finish(_ failure: StoreError?) {
        let result = result
        (self.result, body) = (nil, nil)
        switch (result, failure) {
        case (.failure(let error)?, _): continuation.resume(throwing: error)
        case (_, let failure?): continuation.resume(throwing: failure)
        case (.success(let value)?, nil): continuation.resume(returning: value)
        case (nil, nil): continuation.resume(throwing: StoreError.closed)
        }
    }
}

/// Removes from the WAL what former commits have left there.
final class RemnantOperation: WriteOperation, @unchecked Sendable {
    private let path: String
    private let continuation: CheckedContinuation<Remnants, Never>

    init(_ path: String, _ continuation: CheckedContinuation<Remnants, Never>) {
        self.path = path
        self.continuation = continuation
    }

    override var comesAfterCommit: Bool { true }

    override func finish(_ failure: StoreError?) {
        switch failure {
        case nil: continuation.resume(returning: .gone)
        case let failure? where failure.code == .busy:
            continuation.resume(returning: .held(processes: WALLocks.readers(besideVaultAt: path)))
        case let failure?: continuation.resume(returning: .kept(failure))
        }
    }
}
