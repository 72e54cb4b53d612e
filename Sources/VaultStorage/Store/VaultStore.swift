/// One process's way to a vault. An engine keeps the rows, in a file or elsewhere; everything that decides about trust
/// is done here, by ``Reader`` and ``WriteTransaction``, alike on every engine.
///
/// *Reading* never waits for a writer, and each read sees one consistent state.
///
/// *Writing* is one atomic and durable change each, with its audit rows and manifest. Bodies are synchronous, run
/// inside the transaction on rows that were freshly read and authenticated, and may throw: then just this operation is
/// undone and the error passed on. When a call returns, the change is durable. Cancelling the task does not undo it.
///
/// Errors are ``StoreError``, or what a body throws. No requirement has a default.
package protocol VaultStore: Sendable {
    /// What this process knows of the vault.
    var context: VaultContext { get }

    /// Reads, on the calling thread where the engine can. To be kept short.
    ///
    /// - Parameters:
    ///   - foresight: What the body asks first.
    ///   - body: Runs again if what it read was older than what this process knew by then: what falls behind
    ///     the same mark twice is older. Also if the engine could not give it at once all that it asked.
    func read<R>(
        _ prefetchHint: PrefetchHint, _ body: (Reader) throws(StoreError) -> R
    ) async throws(StoreError) -> R

    /// The same for what reads much: on a thread and a connection of its own, so that nothing else waits for it.
    ///
    /// Cancelling the task ends it; see ``BlockingWork/isCancelled``.
    func survey<R: Sendable>(_ body: @escaping @Sendable (Reader) throws -> R) async throws -> R

    /// Changes. What a body gives is handed on by ``write(_:_:)``.
    ///
    /// - Parameter foresight: What the body asks first.
    func perform(
        _ prefetchHint: PrefetchHint, _ body: @escaping @Sendable (WriteTransaction) throws -> Void
    ) async throws

    /// Told of each commit of this store. Other processes' commits are found by looking.
    var changes: ChangeSignal { get }

    /// Where replies are kept that the vault cannot take.
    var spool: any ReplySpool { get }

    /// This process's name in intents.
    var owner: Int64 { get }
    /// Whether others still see this process as alive. To be asked just before a refresh token is sent: a host that
    /// forked, or that closed descriptors which it did not open, has lost what keeps others from taking over.
    var ownsItsLock: Bool { get }
    /// How old what was looked at last may be when a refresh token is sent, because others take over after a while; nil for
    /// an engine that knows exactly who lives.
    var longestWayToRequest: Duration? { get }

    /// How long all requests of one renewal may take together, for the same reason.
    var longestRenewal: Duration? { get }

    /// Why this vault can be read but not written; nil if it can be written.
    var readOnlyRefusal: StoreError? { get }

    /// The files that the vault is made of, and whether they are as they must be. Empty for an engine without files.
    func files() -> [FileReport]

    /// Removes from the vault's files what former states of rows have left there, such as those of an erased user.
    func removeRemnants() async -> Remnants

    /// Copies the vault, as it is at one moment, into a new file, and calls it a backup once that has been checked.
    /// Writers do not wait for it.
    ///
    /// - Parameter progress: Called now and then with how much has been done, of how much.
    func backUp(
        _ plan: BackupPlan, _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws -> BackupRecord
    /// The path that such a backup would have. Throws if it could not be made there, and makes nothing.
    func pathOfBackup(_ plan: BackupPlan) throws(StoreError) -> String

    /// Finishes what is under way, then closes. Later calls throw ``StoreError/Code/closed``.
    func close()
    /// As ``close()``, without holding up the thread of the caller.
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

/// Keeps replies of servers beside the vault, so that no token is lost with a full or failing engine, nor with the
/// process.
package protocol ReplySpool: Sendable {
    /// Makes room for replies that the vault may not be able to take, before anything is sent. Cheap once done.
    ///
    /// - Parameter count: How many requests this process has under way, the one that is to be sent included.
    func prepare(for count: Int) throws(StoreError)
    /// Keeps a reply; it is durable when this returns.
    func add(_ reply: SpooledReply) throws(StoreError) -> SpoolHandle
    /// Forgets a reply, for good when this returns. To be called when the vault holds what it brought. An entry that is
    /// gone already is no error.
    func remove(_ handle: SpoolHandle) throws(StoreError)
    /// This process's replies and those of processes that have died.
    func listings() throws(StoreError) -> [SpoolListing]
    /// How much lies there, without a look at anything else.
    func depth() throws(StoreError) -> SpoolDepth
    /// Under which root keys the replies are sealed, of all processes.
    func roots() throws(StoreError) -> [SpooledRoot]
}

extension ReplySpool {
    package func prepare() throws(StoreError) { try prepare(for: 1) }
}
