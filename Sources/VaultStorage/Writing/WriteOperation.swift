/// One caller's change, on its way to the writer thread and back. Used by one thread at a time.
package protocol WriteOperation: AnyObject, Sendable {
    /// Runs inside the transaction and keeps its result. It may run again if the engine had to restart the transaction.
    /// Throws the error of the body.
    func run(_ transaction: WriteTransaction) throws

    /// The operation's first queries.
    var prefetchHint: PrefetchHint { get }

    /// Whether it is not a change, but must run after all changes are committed.
    var comesAfterCommit: Bool { get }

    /// Whether it reads and changes only what belongs to one user.
    var isShort: Bool { get }

    /// Notifies the caller. `failure` is the error of the whole transaction, if there was one.
    func finish(_ failure: StoreError?)
}

extension WriteOperation {
    package var prefetchHint: PrefetchHint { .nothing }

    package var isShort: Bool {
        switch prefetchHint {
        case .rows, .rowsOfUser: !comesAfterCommit
        case .nothing, .each: false
        }
    }
}

/// An operation that runs a body.
private final class BodyOperation: WriteOperation, @unchecked Sendable {
    private var body: (@Sendable (WriteTransaction) throws -> Void)?
    private let continuation: CheckedContinuation<Void, any Error>
    private var result: Result<Void, any Error>?
    let prefetchHint: PrefetchHint

    init(
        _ prefetchHint: PrefetchHint, _ continuation: CheckedContinuation<Void, any Error>,
        _ body: @escaping @Sendable (WriteTransaction) throws -> Void
    ) {
        self.prefetchHint = prefetchHint
        self.continuation = continuation
        self.body = body
    }

    var comesAfterCommit: Bool { false }

    func run(_ transaction: WriteTransaction) throws {
        guard let body else { return }
        do {
            try transaction.perform(body)
            try transaction.tables.settle()
            result = .success(())
        } catch {
            result = .failure(error)
            throw error
        }
    }

    /// Releases the body's references before the caller continues: one may be the last reference to the vault.
    func finish(_ failure: StoreError?) {
        let result = result
        (self.result, body) = (nil, nil)
        switch (result, failure) {
        case (.failure(let error)?, _): continuation.resume(throwing: error)
        case (_, let failure?): continuation.resume(throwing: failure)
        case (.success?, nil): continuation.resume()
        case (nil, nil): continuation.resume(throwing: StoreError.closed)
        }
    }
}

extension WriterThread {
    /// Submits a body, and returns when its changes are durable.
    package func perform(
        _ prefetchHint: PrefetchHint, _ body: @escaping @Sendable (WriteTransaction) throws -> Void
    ) async throws {
        var mustGiveWay = false
        try await withCheckedThrowingContinuation { continuation in
            mustGiveWay = submit(BodyOperation(prefetchHint, continuation, body))
        }
        if mustGiveWay { await Task.yield() }
    }
}
