import Synchronization

/// A store whose newest state is also kept by a witness, apart from the vault. It refuses to write to a vault that was
/// put back to an older state, or that is in use as two copies.
///
/// The witness is behind the vault, never ahead, and by at most its ``Witness/interval``. If it cannot be written, this
/// raises an alarm and causes no outage.
package final class WitnessedStore: VaultStore {
    package struct Terms: Sendable {
        package var witness: any Witness
        package var log: IntentLog?
        /// Whether a change counts as durable only after the witness has it.
        package var everyCommit = false
        /// Whether the witness may have no note yet, and gets its first one.
        package var begins = false
        package var uptime: @Sendable () -> Duration
        package var pause: @Sendable (Duration) async -> Void
        /// Called when the witness or the log cannot be written.
        package var alarm: @Sendable (StoreError) -> Void

        package init(
            witness: any Witness, log: IntentLog? = nil, everyCommit: Bool = false, begins: Bool = false,
            uptime: @escaping @Sendable () -> Duration, pause: @escaping @Sendable (Duration) async -> Void,
            alarm: @escaping @Sendable (StoreError) -> Void
        ) {
            (self.witness, self.log, self.everyCommit, self.begins) = (witness, log, everyCommit, begins)
            (self.uptime, self.pause, self.alarm) = (uptime, pause, alarm)
        }
    }

    private struct State {
        var checkedAt: Duration?
        var writtenAt: Duration?
        /// Whether a task is waiting to write the witness.
        var isPending = false
        /// The last note that the witness confirmed.
        var kept: WitnessNote?
        /// The reason why nothing is written to the vault from now on.
        var refusal: StoreError?
    }

    private let store: any VaultStore
    private let terms: Terms
    private let state = Mutex(State())

    /// - Throws: ``StoreError/Code/rollbackSuspected`` if the witness has seen a different state than the vault holds.
    package init(_ store: any VaultStore, _ terms: Terms) async throws {
        self.store = store
        self.terms = terms
        // An unreadable witness proves nothing: removing it must not permit an old state.
        let hasNote = try await compare()
        if !hasNote {
            let since = try await store.witnessedSince()
            guard terms.begins, since == nil else { throw StoreError.hasNoNote(terms.witness, since: since) }
        }
        state.withLock { $0.checkedAt = terms.uptime() }
        let context = store.context
        guard store.readOnlyRefusal == nil else { return }
        if !hasNote { try await store.begin(terms.witness) }
        if let log = terms.log {
            do {
                let head = try await store.auditHead()
                try await BlockingLane.care.run { try log.begin(after: head, context) }
            } catch {
                // A file of another kind is an operator's mistake, not an outage.
                if let error = error as? StoreError, error.code == .invalidValue { throw error }
                alarm(error)
            }
        }
        await advance()
    }

    package func perform(
        _ prefetchHint: PrefetchHint, _ body: @escaping @Sendable (WriteTransaction) throws -> Void
    ) async throws {
        try await check()
        let opened = try await store.write(prefetchHint) { transaction in
            let before = transaction.openedIntents.count
            try body(transaction)
            let sequence = transaction.head.sequence
            return transaction.openedIntents.dropFirst(before).map {
                OpenedIntent(sequence: sequence, login: $0.login, generation: $0.generation)
            }
        }
        if let log = terms.log, !opened.isEmpty {
            do { try await BlockingLane.care.run { [context] in try log.append(opened, context) } } catch {
                alarm(error)
            }
        }
        if terms.everyCommit { await advance() } else { advanceSoon() }
    }

    // MARK: Checking the witness

    /// Checks for a newer or a different state that another process has seen. No change waits for a slow witness;
    /// changes that come after its answer are refused.
    private func check() async throws {
        let now = terms.uptime()
        let isDue = try state.withLock { state throws(StoreError) in
            if let refusal = state.refusal { throw refusal }
            if let last = state.checkedAt, now - last < terms.witness.interval { return false }
            state.checkedAt = now
            return true
        }
        guard isDue else { return }
        guard terms.witness.answersAtOnce else {
            Task.detached { [weak self] in
                do { try await self?.look() } catch { self?.alarm(error) }
            }
            return
        }
        try await look()
    }

    private func look() async throws {
        do { try await compare() } catch let error as StoreError {
            guard error.code == .rollbackSuspected else { return alarm(error) }
            state.withLock { $0.refusal = error }
            throw error
        }
    }

    /// - Returns: Whether the witness has a note.
    @discardableResult
    private func compare() async throws -> Bool {
        let (witness, context) = (terms.witness, store.context)
        guard let text = try await BlockingLane.witness.run({ try witness.text(context) }) else { return false }
        do throws(StoreError) {
            let note = try await store.read { reader throws(StoreError) in try reader.check(against: text) }
            state.withLock { $0.kept = note }
        } catch {
            throw error.naming(witness)
        }
        return true
    }

    // MARK: Writing the witness

    private func advanceSoon() {
        let now = terms.uptime()
        let interval = terms.witness.interval
        let wait: Duration? = state.withLock { state in
            guard !state.isPending else { return nil }
            state.isPending = true
            return max(.zero, (state.writtenAt ?? (now - interval)) + interval - now)
        }
        guard let wait else { return }
        Task.detached { [weak self, terms] in
            await terms.pause(wait)
            await self?.advance()
        }
    }

    private func advance() async {
        let now = terms.uptime()
        let kept = state.withLock { state in
            state.isPending = false
            state.writtenAt = now
            return state.kept
        }
        do { try await advance(beyond: kept) } catch {
            // Another process may have replaced the key of the trail between reading and writing.
            guard (error as? StoreError)?.code == .rollbackSuspected else { return alarm(error) }
            do { try await advance(beyond: kept) } catch { alarm(error) }
        }
    }

    private func advance(beyond kept: WitnessNote?) async throws {
        let note = try await store.read { reader throws(StoreError) in try reader.witnessNote() }
        let (witness, context) = (terms.witness, store.context)
        guard witness.answersAtOnce || note != kept else { return }
        try await BlockingLane.witness.run { try witness.advance(to: note, context) }
        state.withLock { $0.kept = note }
    }

    private func alarm(_ error: any Error) {
        guard let error = error as? StoreError, error.code != .closed else { return }
        terms.alarm(error)
    }

    /// Writes the newest state, then closes.
    package func shutDown() async {
        if store.readOnlyRefusal == nil, state.withLock({ $0.refusal == nil }) { await advance() }
        await store.shutDown()
    }

    // MARK: As a store

    package var context: VaultContext { store.context }
    package var changes: ChangeSignal { store.changes }
    package var spool: any ReplySpool { store.spool }
    package var owner: Int64 { store.owner }
    package var ownsItsLock: Bool { store.ownsItsLock }
    package var lockLoss: StoreError { store.lockLoss }
    package var longestWayToRequest: Duration? { store.longestWayToRequest }
    package var longestRenewal: Duration? { store.longestRenewal }
    package var readOnlyRefusal: StoreError? { store.readOnlyRefusal }
    package func files() -> [FileReport] { store.files() }
    package func removeRemnants() async -> Remnants { await store.removeRemnants() }
    package func close() { store.close() }

    package func read<R>(
        _ prefetchHint: PrefetchHint, _ body: (Reader) throws(StoreError) -> R
    ) async throws(StoreError) -> R {
        try await store.read(prefetchHint, body)
    }

    package func pathOfBackup(_ plan: BackupPlan) throws(StoreError) -> String { try store.pathOfBackup(plan) }

    package func survey<R: Sendable>(_ body: @escaping @Sendable (Reader) throws -> R) async throws -> R {
        try await store.survey(body)
    }

    package func backUp(
        _ plan: BackupPlan, _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws -> BackupRecord {
        try await check()
        let record = try await store.backUp(plan, progress)
        advanceSoon()
        return record
    }
}
