/// One caller's change, on its way to the writer thread and back. Used by one thread at a time.
package protocol WriteOperation: AnyObject, Sendable {
    /// Runs inside the transaction and keeps its result; perhaps once more, if the engine had to begin again. Throws what
    /// the body threw.
    func run(_ transaction: WriteTransaction) throws

    /// Whether it is no change, but is to be done once all changes are committed.
    var comesAfterCommit: Bool { get }

    /// Tells the caller. `failure` is what became of the transaction as a whole.
    func finish(_ failure: StoreError?)
}

/// The operation of a body that gives an `R`.
package final class BodyOperation<R: Sendable>: WriteOperation, @unchecked Sendable {
    private var body: (@Sendable (WriteTransaction) throws -> R)?
    private let continuation: CheckedContinuation<R, any Error>
    private var result: Result<R, any Error>?

    package init(
        _ continuation: CheckedContinuation<R, any Error>, _ body: @escaping @Sendable (WriteTransaction) throws -> R
    ) {
        self.continuation = continuation
        self.body = body
    }

    package var comesAfterCommit: Bool { false }

    package func run(_ transaction: WriteTransaction) throws {
        guard let body else { return }
        do {
            let value = try body(transaction)
            try transaction.tables.settle()
            result = .success(value)
        } catch {
            result = .failure(error)
            throw error
        }
    }

    /// What the body holds on to is let go before the caller goes on: it may be the last reference to the vault.
    package func finish(_ failure: StoreError?) {
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
