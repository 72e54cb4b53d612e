/// One process's access to a vault. An engine stores the rows, in a file or elsewhere. All decisions about trust are
/// made here, by ``Reader`` and ``WriteTransaction``, in the same way on every engine.
///
/// *Reading* never waits for a writer, and each read sees one consistent state.
///
/// *Writing* makes atomic and durable changes, each with its audit rows and manifest. Bodies are synchronous. They run
/// inside the transaction on rows that were freshly read and authenticated, and may throw: then only this operation is
/// undone and the error is rethrown. When a call returns, the change is durable. Cancelling the task does not undo it.
///
/// Errors are ``StoreError``, or errors that a body throws. No requirement has a default.
package protocol VaultStore: Sendable {
    /// The process's knowledge of the vault.
    var context: VaultContext { get }

    /// Reads, on the calling thread where the engine supports it. Keep it short.
    ///
    /// - Parameters:
    ///   - prefetchHint: The body's first queries.
    ///   - body: Runs again if it read data older than this process knew by then: data that is behind the same mark
    ///     twice is really older. It also runs again if the engine could not return all rows at once.
    func read<R>(
        _ prefetchHint: PrefetchHint, _ body: (Reader) throws(StoreError) -> R
    ) async throws(StoreError) -> R

    /// Reads large amounts, on a separate thread and connection, so that nothing else waits for it.
    ///
    /// Cancelling the task ends it; see ``BlockingWork/isCancelled``.
    func survey<R: Sendable>(_ body: @escaping @Sendable (Reader) throws -> R) async throws -> R

    /// Runs a change. ``write(_:_:)`` returns the result of its body.
    ///
    /// - Parameter prefetchHint: The body's first queries.
    func perform(
        _ prefetchHint: PrefetchHint, _ body: @escaping @Sendable (WriteTransaction) throws -> Void
    ) async throws

    /// Signals each commit of this store. Commits of other processes are found by polling.
    var changes: ChangeSignal { get }

    /// The spool for replies that the vault cannot store.
    var spool: any ReplySpool { get }

    /// This process's number in intents.
    var owner: Int64 { get }
    /// Whether others still see this process as alive. Check it just before sending a refresh token: a host that
    /// forked, or that closed descriptors that it did not open, has lost the lock that prevents others from taking
    /// over.
    var ownsItsLock: Bool { get }
    /// What to say to those who cannot be served because the lock is lost: for good, or until a server is reached again.
    var lockLoss: StoreError { get }
    /// The maximum age of the last check when a refresh token is sent, because others take over after a while; nil for
    /// an engine that knows exactly which processes are alive.
    var longestWayToRequest: Duration? { get }

    /// The maximum duration of all requests of one renewal together, for the same reason.
    var longestRenewal: Duration? { get }

    /// The reason why this vault can be read but not written; nil if it can be written.
    var readOnlyRefusal: StoreError? { get }

    /// The vault's files, each with its problem if it has one. Empty for an engine without files.
    func files() -> [FileReport]

    /// Removes former states of rows from the vault's files, such as those of an erased user.
    func removeRemnants() async -> Remnants

    /// Copies the vault, in its state at one moment, into a new file, and makes the file a backup after checking it.
    /// Writers do not wait for it.
    ///
    /// - Parameter progress: Called from time to time with the amount done and the total.
    func backUp(
        _ plan: BackupPlan, _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws -> BackupRecord
    /// The path that such a backup would get. Throws if it could not be made there. Creates nothing.
    func pathOfBackup(_ plan: BackupPlan) throws(StoreError) -> String

    /// Finishes the work under way, then closes. Later calls throw ``StoreError/Code/closed``.
    func close()
    /// Closes without blocking the caller's thread.
    func shutDown() async
}

extension VaultStore {
    @inline(__always)
    package func read<R>(_ body: (Reader) throws(StoreError) -> R) async throws(StoreError) -> R {
        try await read(.nothing, body)
    }

    package func perform(_ body: @escaping @Sendable (WriteTransaction) throws -> Void) async throws {
        try await perform(.nothing, body)
    }
}

/// Keeps server replies next to the vault, so that no token is lost with a full or failing engine, or with the process.
package protocol ReplySpool: Sendable {
    /// Reserves room for replies that the vault may not be able to store, before anything is sent. It is cheap once
    /// done.
    ///
    /// - Parameter count: The number of requests that this process has under way, including the one about to be sent.
    func prepare(for count: Int) throws(StoreError)
    /// Keeps a reply, which is durable when this returns.
    func add(_ reply: SpooledReply) throws(StoreError) -> SpoolHandle
    /// Forgets a reply, permanently when this returns. Call it when the vault holds the reply's content. It is not an
    /// error if the entry is already gone.
    func remove(_ handle: SpoolHandle) throws(StoreError)
    /// This process's replies and those of processes that have died.
    func listings() throws(StoreError) -> [SpoolListing]
    /// The size of the spool's content, without reading anything else.
    func depth() throws(StoreError) -> SpoolDepth
    /// The root keys under which the replies of all processes are sealed.
    func roots() throws(StoreError) -> [SpooledRoot]
}

extension ReplySpool {
    package func prepare() throws(StoreError) { try prepare(for: 1) }
}
