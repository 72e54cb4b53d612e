/// One caller's change, on its way to the writer thread and back.
class WriteOperation: @unchecked Sendable {
    /// Runs inside the transaction and keeps its result. Throws what the body threw.
    func run(_ transaction: WriteTransaction) throws {}

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

extension StoreError {
    static var closed: StoreError { StoreError(.closed, "the vault is closed") }
}
