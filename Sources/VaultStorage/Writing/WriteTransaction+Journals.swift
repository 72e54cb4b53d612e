import VaultCrypto

/// The result of taking a pending log-in. A refusal is not an error of the transaction, which still removes expired
/// log-ins.
enum AuthorizationRequestTaking: Sendable {
    case taken(AuthorizationRequestRecord)
    case refused(StoreError)
}

extension WriteTransaction {
    /// The maximum number of pending log-ins of one user; another one ends the oldest. Anyone can click *connect*
    /// without an account, and each click is a commit.
    package static let mostPendingLogIns = 20

    func put(_ record: AuthorizationRequestRecord, of user: UserHandle? = nil) throws(StoreError) {
        if let user {
            try require(user, in: try loadUserOfAnyTime(index(ofUserId: record.userId)))
        }
        try sweepAuthorizationRequests()
        try deleteLogIns(try pendingLogIns(of: record.userId).dropFirst(Self.mostPendingLogIns - 1))
        let index = indexes(of: record.state).current
        let cell = try seal(record, under: index)
        let insert = try tables.cursor(.insertAuthorizationRequest)
        insert.bind(1, index.bytes)
        insert.bind(2, record.expiresAt.milliseconds)
        insert.bind(3, cell)
        try insert.run()
    }

    /// The rows of a user's log-ins among the newest 256 of all, the newest first: a flood by one user shows there.
    /// Empty if all users together have too few to matter.
    private func pendingLogIns(of userId: String) throws(StoreError) -> [Int64] {
        let numbers = try tables.cursor(.newestAuthorizationRequests)
        var all: [Int64] = []
        do {
            defer { numbers.reset() }
            while try numbers.step() { all.append(numbers.integer(0)) }
        }
        guard all.count >= Self.mostPendingLogIns else { return [] }
        let row = try tables.cursor(.authorizationRequestByRow)
        var own: [Int64] = []
        for id in all {
            row.bind(1, id)
            defer { row.reset() }
            // A damaged log-in belongs to no user.
            guard try row.step(), let record = try? opener.authorizationRequest(row) else { continue }
            if record.userId == userId { own.append(id) }
        }
        return own
    }

    private func deleteLogIns(_ rows: some Sequence<Int64>) throws(StoreError) {
        let delete = try tables.cursor(.deletesByNumber[.authorizationRequest])
        for row in rows {
            delete.bind(1, row)
            try delete.run()
        }
    }

    /// Ends all pending log-ins of a user, however many others have: completing one would make the user again.
    ///
    /// - Returns: How many there were.
    @discardableResult
    func endPendingLogIns(of userId: String) throws(StoreError) -> Int {
        try sweepAuthorizationRequests()
        let row = try tables.cursor(.authorizationRequests)
        row.bind(2, .max)
        let own = try row.withBinding(1, .min) { () throws(StoreError) in
            var own: [Int64] = []
            while try row.step() {
                // A damaged log-in belongs to no user.
                guard let record = try? opener.authorizationRequest(row) else { continue }
                if record.userId.utf8.elementsEqual(userId.utf8) { own.append(row.integer(3)) }
            }
            return own
        }
        try deleteLogIns(own)
        return own.count
    }

    /// Refuses a log-in whose user was erased since it began.
    func require(_ user: UserHandle, in found: OpenUser?) throws(StoreError) {
        guard found?.columns.handle == user else { throw .notFound(.authorizationRequest) }
    }

    func seal(_ record: AuthorizationRequestRecord, under index: BlindIndex) throws(StoreError) -> [UInt8] {
        try sealing { () throws(VaultCryptoError) in
            try SealedCell.seal(
                record.encoded(), kind: .authorizationRequest, key: context.keyring.primaryRoot,
                associatedData: AuthorizationRequestRecord.associatedData(
                    context.vaultID, index, expiresAt: record.expiresAt))
        }
    }

    /// Returns `nil` if there is none, or if it has expired. The log-in is deleted, unless another browser or user asks
    /// for it: a stranger's attempt must not end a user's log-in.
    func takeAuthorizationRequest(_ proof: CallbackProof) throws(StoreError) -> AuthorizationRequestTaking? {
        try sweepAuthorizationRequests()
        for index in indexes(of: proof.state).all {
            let query = try tables.cursor(.authorizationRequest)
            let record: AuthorizationRequestRecord? = try query.withBinding(1, index.bytes) { () throws(StoreError) in
                try query.step() ? try opener.authorizationRequest(query) : nil
            }
            guard let record else { continue }
            if let refusal = proof.refusal(for: record) { return .refused(refusal) }
            let delete = try tables.cursor(.deleteAuthorizationRequest)
            delete.bind(1, index.bytes)
            try delete.run()
            return .taken(record)
        }
        return nil
    }

    private func sweepAuthorizationRequests() throws(StoreError) {
        let sweep = try tables.cursor(.deleteExpiredAuthorizationRequests)
        sweep.bind(1, now().milliseconds)
        try sweep.run()
    }

    private func indexes(of state: SecretBytes) -> BlindIndexes {
        rows.keyring.blindIndexes(ofState: state)
    }

    func queue(_ records: [OutboxRecord]) throws(StoreError) {
        for record in records {
            let entry = StoredOutboxEntry(handle: record.handle, nextAttemptAt: now(), attempts: 0, record: record)
            let isKnown = try isQueued(record.handle)
            try write(entry)
            // A repetition, after a commit that was durable although it was reported as failed: it is recorded once.
            if isKnown { continue }
            try audit(
                AuditEvent(.revocationQueued, [AuditEvent.Detail("entry", entry.handle.text)]),
                about: subject(of: record))
        }
    }

    /// Takes over a revocation from another vault, with the number of attempts made there.
    func take(_ entry: StoredOutboxEntry) throws(StoreError) {
        if try isQueued(entry.handle) { return }
        try write(entry)
        try audit(
            AuditEvent(.revocationQueued, [AuditEvent.Detail("entry", entry.handle.text)]),
            about: subject(of: entry.record))
    }

    /// Whether exactly this log-in is pending.
    func isPending(_ record: AuthorizationRequestRecord) throws(StoreError) -> Bool {
        let query = try tables.cursor(.authorizationRequest)
        return try query.withBinding(1, indexes(of: record.state).current.bytes) { () throws(StoreError) in
            try query.step()
        }
    }

    private func isQueued(_ handle: OutboxHandle) throws(StoreError) -> Bool {
        let row = try tables.cursor(.outboxEntry)
        return try row.withBinding(1, handle.bytes) { () throws(StoreError) in try row.step() }
    }

    private func write(_ entry: StoredOutboxEntry) throws(StoreError) {
        let cell = try sealing { () throws(VaultCryptoError) in
            try SealedCell.seal(
                entry.record.encoded(), kind: .outbox, key: context.keyring.primaryRoot,
                associatedData: OutboxRecord.associatedData(
                    context.vaultID, entry.handle, nextAttemptAt: entry.nextAttemptAt,
                    attempts: Int64(entry.attempts)))
        }
        let write = try tables.cursor(.putOutboxEntry)
        write.bind(1, entry.handle.bytes)
        write.bind(2, entry.nextAttemptAt.milliseconds)
        write.bind(3, Int64(entry.attempts))
        write.bind(4, cell)
        try write.run()
    }

    /// A revocation does not change its user any more, so its row has no revision.
    private func subject(of record: OutboxRecord) -> AuditSubject {
        AuditSubject(login: record.login, provider: nil)
    }

    func resolve(_ handle: OutboxHandle, _ resolution: OutboxResolution) throws(StoreError) {
        let row = try tables.cursor(.outboxEntry)
        let entry = try row.withBinding(1, handle.bytes) { () throws(StoreError) in
            guard try row.step() else { throw StoreError.notFound(.outboxEntry) }
            return try opener.outboxEntry(row)
        }
        var detail = [AuditEvent.Detail("entry", handle.text)]
        let kind: AuditKind
        switch resolution {
        case .retry(let next, let nonces):
            kind = .revocationDeferred
            var record = entry.record
            record.nonces.merge(nonces) { _, new in new }
            try write(
                StoredOutboxEntry(
                    handle: handle, nextAttemptAt: next, attempts: entry.attempts + 1, record: record))
        case .done:
            kind = .revocationConfirmed
            try deleteOutboxEntry(handle)
        case .abandoned, .expired, .superseded:
            kind = .revocationAbandoned
            let cause =
                switch resolution {
                case .expired: "expired"
                case .superseded: "superseded"
                default: "unsupported"
                }
            detail.append(.init("cause", cause))
            try deleteOutboxEntry(handle)
        }
        try audit(AuditEvent(kind, detail), about: subject(of: entry.record))
    }

    private func deleteOutboxEntry(_ handle: OutboxHandle) throws(StoreError) {
        let delete = try tables.cursor(.deleteOutboxEntry)
        delete.bind(1, handle.bytes)
        try delete.run()
    }
}

extension Query {
    fileprivate static let newestAuthorizationRequests = select(
        Table.authorizationRequest.columns("id"), from: .authorizationRequest,
        order: [.down(Table.authorizationRequest["id"])], mostRows: 256)

    fileprivate static let insertAuthorizationRequest = insert(
        into: .authorizationRequest, "stateIndex", "expiresAt", "cell")

    fileprivate static let deleteAuthorizationRequest = delete(
        from: .authorizationRequest, where: [.equal(Table.authorizationRequest["stateIndex"], 1)])

    fileprivate static let deleteExpiredAuthorizationRequests = delete(
        from: .authorizationRequest, where: [.atMost(Table.authorizationRequest["expiresAt"], 1)])

    fileprivate static let putOutboxEntry = insert(
        into: .outbox, "handle", "nextAttemptAt", "attempts", "cell", onConflict: .updates(by: "handle"))

    fileprivate static let deleteOutboxEntry = delete(from: .outbox, where: [.equal(Table.outbox["handle"], 1)])
}
