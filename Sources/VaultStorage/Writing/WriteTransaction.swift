package import VaultCrypto

/// The context of an operation on the writer thread, inside an open transaction.
package final class WriteTransaction {
    /// The end of the audit chain.
    package struct AuditHead: Equatable {
        package var sequence: Int64
        package var mac: AuditMAC

        package init(sequence: Int64, mac: AuditMAC) {
            self.sequence = sequence
            self.mac = mac
        }
    }

    /// See ``AuditTrail/limit``; it applies to fences, too.
    static let counterLimit = AuditTrail.limit

    let tables: any TableAccess
    let context: VaultContext
    let opener: RowOpener
    package var head = AuditHead(sequence: 0, mac: .genesis)
    package private(set) var headAtBegin = AuditHead(sequence: 0, mac: .genesis)
    /// The highest end of the chain that this process has committed. A vault behind it was rolled back.
    package private(set) var committedHead: AuditHead?
    /// The vault's row with the changes of this transaction.
    let rows: VaultRowKeeper
    /// The users that this transaction has written, with their revisions.
    var savedUsers: [UserHandle: Int64] = [:]
    /// The renewals that this transaction has begun, each with a refresh token that is about to be sent. It includes
    /// those of operations that have failed since.
    package var openedIntents: [(login: LoginHandle, generation: Int64)] = []
    /// Names for users and logins that this transaction makes.
    var userHandles = HandleSource<UserSubject>()
    var loginHandles = HandleSource<LoginSubject>()
    /// The vault's highest fence, while no other process can have taken one.
    var highestFence: Int64?
    /// Whether the current operation is a step of the vault's move.
    var isMoving = false
    /// No change by the operations makes a login due before this instant. It is the earliest possible one if an
    /// operation did not report its own.
    package var dueFrom: Timestamp { operationsAreDueFrom ?? .earliest }
    private var operationsAreDueFrom: Timestamp?
    private var operationIsDueFrom: Timestamp?
    /// The state of the vault after this process's last commit.
    private var lastCommit: (mark: Int64, lookedAt: SuspendingClock.Instant)?
    private var lookedAt = SuspendingClock.now
    /// Whether the last ``begin()`` had to check the vault, because others had written or the last check was too old.
    package private(set) var hasLooked = false
    private var failure: StoreError?

    /// - Parameter committedHead: known from another transaction of this process.
    package init(
        _ tables: any TableAccess, _ context: VaultContext, committedHead: AuditHead? = nil
    ) throws(StoreError) {
        self.tables = tables
        self.context = context
        self.committedHead = committedHead
        rows = VaultRowKeeper(context.rows.current)
        opener = try RowOpener(tables, context, rows: rows, cache: context.manifestParts)
        opener.reading.isInSnapshot = true
    }

    /// Reads the end of the audit chain, now that no other process can write, and checks whether the schema, the
    /// keyring, the incarnation or the manifest have changed. State that is older than this process knows was rolled
    /// back.
    package func begin() throws(StoreError) {
        failure = nil
        savedUsers.removeAll(keepingCapacity: true)
        userHandles = HandleSource()
        loginHandles = HandleSource()
        openedIntents.removeAll(keepingCapacity: true)
        operationsAreDueFrom = nil
        if let committedHead, isAsLeft() {
            if !rows.isSame(as: context.rows) { rows.restore(context.rows.current) }
            head = committedHead
            headAtBegin = head
            hasLooked = false
            return
        }
        hasLooked = true
        highestFence = nil
        try tables.checkSchema()
        rows.restore(context.rows.current)
        try rows.look(tables, context)
        let end = try AuditTrail(opener).end(known: committedHead.map { AuditPosition($0) })
        head = AuditHead(sequence: end.position.sequence, mac: end.position.link)
        lookedAt = .now
        headAtBegin = head
        try requireKnownHead()
        if end.hasRowsBehind { try setAsideRowsBehindEnd() }
    }

    /// Refuses a trail that has lost this process's commits.
    private func requireKnownHead() throws(StoreError) {
        guard let committedHead, head != committedHead else { return }
        // Others have written since. This process's commit must still be in the trail, before their rows.
        if head.sequence > committedHead.sequence, try !lacks(committedHead) { return }
        throw StoreError(
            .rollbackSuspected, "the vault is older than what this process has already written to it",
            hint: "find out who replaced the file; nothing is written to it")
    }

    /// The queries of ``begin()`` after others have written.
    package var looks: [BoundQuery] {
        let known = committedHead.map { BoundQuery(.auditLink, .number($0.sequence)) }
        return [BoundQuery(.vaultState), BoundQuery(.endOfTrail, .number(Self.counterLimit))]
            + (known.map { [$0] } ?? [])
    }

    /// Whether the vault is as this process's last transaction left it. This is trusted for a second; after that the
    /// vault is checked whatever the engine reports.
    private func isAsLeft() -> Bool {
        guard let lastCommit, tables.changeMark == lastCommit.mark else { return false }
        return lastCommit.lookedAt.duration(to: .now) < .seconds(1)
    }

    /// The end of the trail in the tables, whatever this process knows.
    package static func lastHead(_ tables: any TableAccess) throws(StoreError) -> AuditHead {
        let last = try tables.cursor(.lastLink)
        defer { last.reset() }
        guard try last.step() else { return AuditHead(sequence: 0, mac: .genesis) }
        guard let mac = unsafe AuditMAC(last.blob(1)) else {
            throw .quarantined("audit", nil, "the last row's authentication code has the wrong length")
        }
        guard (0..<counterLimit).contains(last.integer(0)) else {
            throw .quarantined("audit", nil, "the last row has a number that no vault reaches")
        }
        return AuditHead(sequence: last.integer(0), mac: mac)
    }

    /// Runs an operation. If this throws, its changes must be undone.
    package func perform<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
        isMoving = false
        operationIsDueFrom = nil
        let result = try body(self)
        try requireUnmoved()
        operationsAreDueFrom = min(operationsAreDueFrom ?? .latest, operationIsDueFrom ?? .earliest)
        return result
    }

    /// Reports that the current operation makes no login due before this instant; nil if it makes none due at all.
    func makesNothingDue(before instant: Timestamp?) { operationIsDueFrom = instant ?? .latest }

    /// Refuses changes to a vault that only its move may change.
    private func requireUnmoved() throws(StoreError) {
        if !isMoving, let refusal = rows.current.manifest.move?.refusal { throw refusal }
    }

    package func committed() {
        committedHead = head
        lastCommit = tables.changeMark.map { ($0, lookedAt) }
        if !rows.isSame(as: context.rows) { context.adopt(rows.current) }
        context.seen.noteAuditHead(head.sequence)
        for (user, revision) in savedUsers { context.seen.note(user, revision) }
    }

    /// Whether the audit chain has exactly this link: then the whole transaction that wrote it is in the vault.
    package func holds(_ link: AuditHead) throws(StoreError) -> Bool {
        let row = try tables.cursor(.auditLink)
        defer { row.reset() }
        row.bind(1, link.sequence)
        guard try row.step() else { return false }
        return unsafe AuditMAC(row.blob(0)) == link.mac
    }

    /// Whether the audit chain lacks this link, and has not pruned it.
    package func lacks(_ link: AuditHead) throws(StoreError) -> Bool {
        if try holds(link) { return false }
        return try !hasPruned(link)
    }

    /// Whether a later transaction has pruned the row of that link, according to the trail.
    private func hasPruned(_ link: AuditHead) throws(StoreError) -> Bool {
        let pruning = try AuditTrail(opener).pruning()
        // The row before the start of the chain is known by its link.
        if pruning.through == link.sequence { return pruning.link == link.mac }
        return pruning.through > link.sequence
    }

    /// State that a failed operation must leave unchanged.
    package struct Mark {
        fileprivate let head: AuditHead
        fileprivate let row: VaultRow
        fileprivate let savedUsers: [UserHandle: Int64]
    }

    package var mark: Mark { Mark(head: head, row: rows.current, savedUsers: savedUsers) }

    package func restore(_ mark: Mark, after error: any Error) {
        head = mark.head
        rows.restore(mark.row)
        savedUsers = mark.savedUsers
        note(error)
    }

    /// Remembers the last error that the engine reported, in case it has abandoned the transaction.
    package func note(_ error: any Error) { failure = error as? StoreError ?? failure }

    package var notedFailure: StoreError? { failure }

    /// The reason why the transaction was lost.
    package var lostTransaction: StoreError { failure ?? StoreError(.io(0), "the transaction was given up") }

    func now() -> Timestamp { context.clock() }

    /// Runs a body that seals. Its crypto errors concern the given data, not the stored data.
    func sealing<R>(_ body: () throws(VaultCryptoError) -> R) throws(StoreError) -> R {
        do throws(VaultCryptoError) {
            return try body()
        } catch {
            switch error.code {
            case .outOfGuardedMemory, .outOfMemory:
                throw StoreError(.outOfMemory, error.message, hint: error.hint)
            default:
                throw StoreError(.invalidValue, error.message, hint: error.hint)
            }
        }
    }
}

extension AuditPosition {
    fileprivate init(_ head: WriteTransaction.AuditHead) { self.init(sequence: head.sequence, link: head.mac) }
}

extension Query {
    static let lastLink = select(
        Table.audit.columns("sequence", "mac"), from: .audit, order: [.down(Table.audit["sequence"])], mostRows: 1)
}
