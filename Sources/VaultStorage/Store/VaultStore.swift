package import VaultCrypto

/// Where a vault's rows live. No type of a database appears in it: another engine can take SQLite's place.
///
/// *Reading* is synchronous, on the calling thread, and never waits for a writer. Each read sees one consistent state.
///
/// *Writing* is one atomic and durable change each, with its audit rows and manifest. Bodies are synchronous, run
/// inside the transaction on rows that were freshly read and authenticated, and may throw: then just this operation is
/// undone and the error passed on. When a call returns, the change is on disk. Cancelling the task does not undo it.
///
/// Errors are ``StoreError``, or what a body throws.
package protocol VaultStore: Sendable {
    // MARK: Reading

    /// The hot read. With ``LoginSelector/user(_:)``, terminated logins are no candidates, unless all are.
    func session(_ selector: LoginSelector) throws(StoreError) -> SessionSnapshot
    func login(_ handle: LoginHandle) throws(StoreError) -> StoredLogin
    /// In the order of their handles. A damaged row is listed as such.
    func logins(ofUser userID: String?, after: LoginHandle?, limit: Int) throws(StoreError) -> [LoginListing]
    /// Logins that are due at this time, the longest due first; see ``LoginState/dueAt``. Reads the index and plaintext
    /// columns alone: what they say is authenticated when the login itself is read.
    ///
    /// - Parameter cursor: ``DuePage/cursor`` of the page before; nil for the first.
    func dueLogins(before time: Timestamp, after cursor: DueCursor?, limit: Int) throws(StoreError) -> DuePage
    func user(_ id: String) throws(StoreError) -> StoredUser
    func users(after: UserHandle?, limit: Int) throws(StoreError) -> [UserListing]
    /// In the order in which they came; a page begins after ``ProviderListing/sequence`` of the one before, the first
    /// after nil. A damaged row is listed as such.
    func providers(after sequence: Int64?, limit: Int) throws(StoreError) -> [ProviderListing]
    func provider(_ handle: ProviderHandle) throws(StoreError) -> StoredProvider
    /// By a keyed hash of the name: opens no other provider.
    func provider(named name: String) throws(StoreError) -> StoredProvider
    /// Of the user's logins, damaged ones too. Nothing authenticates them: for reading ahead.
    func providers(ofUser userID: String) throws(StoreError) -> Set<ProviderHandle>
    func auditEntries(after sequence: Int64, limit: Int) throws(StoreError) -> [AuditEntry]
    /// When another login of this provider was last renewed, if that was after this time. Looks at the latest rows of
    /// the trail alone, by plaintext columns.
    func lastRenewal(
        at provider: ProviderHandle, otherThan login: LoginHandle, since: Timestamp
    ) throws(StoreError) -> Timestamp?
    /// The number of the last audit row; 0 before the first.
    func auditHead() throws(StoreError) -> Int64
    /// Who has this handle: audit rows name users by it.
    func userID(of handle: UserHandle) throws(StoreError) -> String
    /// Those whose time has come, in its order. Damaged ones are passed over.
    func dueOutboxEntries(at time: Timestamp, limit: Int) throws(StoreError) -> [StoredOutboxEntry]
    /// All, in the order in which they came; a page begins after ``OutboxListing/sequence`` of the one before, the
    /// first after nil. A damaged row is listed as such.
    func outbox(after sequence: Int64?, limit: Int) throws(StoreError) -> [OutboxListing]
    func outboxEntry(_ handle: OutboxHandle) throws(StoreError) -> StoredOutboxEntry
    /// Unusable replies, in the order in which they came; none if there is no such login.
    func unusableReplies(of login: LoginHandle) throws(StoreError) -> [UnusableReplyListing]
    func keySlots() throws(StoreError) -> [StoredKeySlot]
    /// The slot by which this process has opened the vault.
    var openingKeySlot: KeySlotHandle { get }
    /// Open intents, in the order in which they were begun. Damaged ones are passed over: reading the login itself
    /// reports them.
    ///
    /// - Parameter fence: ``IntentPage/next`` of the page before; nil for the first.
    func openIntents(after fence: Int64?, limit: Int) throws(StoreError) -> IntentPage
    /// Whether there is an intent at all, damaged or not.
    func hasOpenIntents() throws(StoreError) -> Bool
    /// Takes as long as it takes to count users and logins. Logins with a failure that no handler has heard of, see
    /// ``SessionRecord/notifiedFailure``. What their sessions say decides.
    func untoldFailures(limit: Int) throws(StoreError) -> [LoginHandle]
    func statistics() throws(StoreError) -> StoreStatistics
    /// What is open, counted without counting everything.
    func depths() throws(StoreError) -> StoreDepths
    /// What lies in the spool, without a look at anything else.
    func spoolDepth() throws(StoreError) -> SpoolDepth
    /// Rows that cannot be opened, at most `limit`. Looks at every row there is, but for the audit trail and what has
    /// to open before anything does.
    func damagedRows(limit: Int) throws(StoreError) -> [DamagedRow]
    /// A damaged row as it lies there. Not found if there is none of that name; in conflict if the row opens.
    func damagedRow(_ name: DamagedRowName) throws(StoreError) -> DamagedRowContent
    /// The files that the vault is made of, and whether they are as they must be. Empty for a store without files.
    func files() -> [FileReport]
    /// Checks every cell, manifest and audit row. Takes as long as the vault is big, in bounded memory; writers go on.
    func verify(_ progress: (VerificationProgress) -> Void) throws(StoreError) -> VerificationReport

    // MARK: Writing

    func insertLogin(_ draft: LoginDraft) async throws -> StoredLogin
    func updateLogin<R: Sendable>(
        _ handle: LoginHandle, _ body: @escaping @Sendable (inout LoginState) throws -> R
    ) async throws -> R
    func updateUser<R: Sendable>(
        _ id: String, _ body: @escaping @Sendable (inout UserState) throws -> R
    ) async throws -> R

    /// Adds a provider, or replaces the one of this handle. Names are unique.
    func putProvider(_ record: ProviderRecord, replacing handle: ProviderHandle?) async throws -> StoredProvider
    /// Puts a provider in the place of a damaged one; its logins stay its own.
    func putProvider(_ record: ProviderRecord, replacingDamaged name: DamagedRowName) async throws -> StoredProvider
    /// Changes a provider as it is now. The body gives what is to be told beside the changes themselves; one that
    /// changes nothing leaves the row, and its revision, as they are.
    func updateProvider(
        _ handle: ProviderHandle,
        _ body: @escaping @Sendable (inout ProviderRecord, ProviderUse) throws -> [AuditEvent.Detail]
    ) async throws -> StoredProvider
    /// Deletes a row that cannot be opened, and what hangs on it; refused if it opens. See ``damagedRow(_:)``.
    func discardDamagedRow(_ name: DamagedRowName) async throws -> DiscardedRow
    /// The same for the row of a user, by the user's id.
    func discardDamagedUser(_ id: String) async throws -> DiscardedRow
    /// Refused while a login uses it.
    func removeProvider(_ handle: ProviderHandle) async throws

    func putAuthorizationRequest(_ record: AuthorizationRequestRecord) async throws
    /// Gives a pending log-in once, never after it expired, and never to another browser or user than began it; deletes
    /// all that have expired.
    func takeAuthorizationRequest(_ proof: CallbackProof) async throws -> AuthorizationRequestRecord

    /// Queues revocations of logins that are gone.
    func addOutbox(_ records: [OutboxRecord]) async throws
    func resolveOutbox(_ handle: OutboxHandle, _ resolution: OutboxResolution) async throws

    /// Keeps an unusable reply until its login's chain moves on, or is gone.
    func keepUnusableReply(_ record: UnusableReplyRecord) async throws
    /// Deletes those from before this time. Writes nothing if there is none.
    func forgetUnusableReplies(before time: Timestamp) async throws

    func addKeySlot(_ maker: any SlotMaker, label: String) async throws -> StoredKeySlot
    /// Removes a slot, if another one remains that is known to open the vault: the one that `unlocker` opens, or else
    /// the one by which this process has opened the vault.
    func removeKeySlot(_ handle: KeySlotHandle, provenBy unlocker: (any SlotUnlocker)?) async throws

    /// Removes from the vault's files what former states of rows have left there, such as those of an erased user.
    func removeRemnants() async -> Remnants

    /// Told of each commit of this store. Other processes' commits are found by looking.
    var changes: ChangeSignal { get }

    // MARK: Spool

    /// Makes room for replies that the vault may not be able to take, before anything is sent. Cheap once done.
    ///
    /// - Parameter count: How many requests this process has under way, the one that is to be sent included.
    func prepareSpool(for count: Int) throws(StoreError)
    /// Keeps a reply beside the vault; it is on disk when this returns.
    func spool(_ reply: SpooledReply) throws(StoreError) -> SpoolHandle
    /// Forgets a spooled reply, for good when this returns. To be called when the vault holds what it brought. An entry
    /// that is gone already is no error.
    func unspool(_ handle: SpoolHandle) throws(StoreError)
    /// This process's spooled replies and those of processes that have died.
    func spooledReplies() throws(StoreError) -> [SpoolListing]

    // MARK: Ownership

    /// This process's name in intents.
    var owner: Int64 { get }
    /// Whether the process of that name lives. May be called inside bodies.
    func isOwnerAlive(_ owner: Int64) -> Bool
    /// Whether others still see this process as alive. To be asked just before a refresh token is sent: a host that
    /// forked, or that closed descriptors which it did not open, has lost what keeps others from taking over.
    var ownsItsLock: Bool { get }

    /// Why this vault can be read but not written; nil if it can be written.
    var readOnlyRefusal: StoreError? { get }

    /// Finishes what is under way, then closes. Later calls throw ``StoreError/Code/closed``.
    func close()
    /// As ``close()``, without holding up the thread of the caller.
    func shutDown() async
}

extension VaultStore {
    package func removeKeySlot(_ handle: KeySlotHandle) async throws {
        try await removeKeySlot(handle, provenBy: nil)
    }

    package func files() -> [FileReport] { [] }
    package func shutDown() async { close() }
    package func prepareSpool() throws(StoreError) { try prepareSpool(for: 1) }
    package var readOnlyRefusal: StoreError? { nil }
    package func removeRemnants() async -> Remnants { .gone }

    package func unusableReplies(of login: LoginHandle) throws(StoreError) -> [UnusableReplyListing] { [] }
    package func keepUnusableReply(_ record: UnusableReplyRecord) async throws {}
    package func forgetUnusableReplies(before time: Timestamp) async throws {}

    package func providers() throws(StoreError) -> [ProviderListing] {
        let size = 256
        var all: [ProviderListing] = []
        while true {
            let page = try providers(after: all.last?.sequence, limit: size)
            all += page
            if page.count < size { return all }
        }
    }

    package func dueLogins(before time: Timestamp, limit: Int) throws(StoreError) -> DuePage {
        try dueLogins(before: time, after: nil, limit: limit)
    }

    /// Every entry, due or not. One that cannot be opened is an error here; ``outbox(after:limit:)`` goes on.
    package func outboxEntries(limit: Int) throws(StoreError) -> [StoredOutboxEntry] {
        var entries: [StoredOutboxEntry] = []
        for listing in try outbox(after: nil, limit: limit) {
            if let damage = listing.damage { throw damage }
            if let entry = listing.entry { entries.append(entry) }
        }
        return entries
    }
}
