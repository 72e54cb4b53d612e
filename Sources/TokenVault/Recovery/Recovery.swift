import Synchronization
import VaultStorage

/// Cleans up after processes that have ended, and settles doubts that are due.
final class Recovery: Sendable {
    private let engine: RenewalEngine
    /// Open intents that need no check for a while.
    private let resting = RestingIntents()
    private let ends = Mutex<[End]>([])

    /// How a renewal that its process had left has ended.
    struct End: Sendable {
        let login: LoginHandle
        let fence: Int64
        let ending: RenewalMachine.Ending
        let startedAt: Timestamp
    }

    init(_ engine: RenewalEngine) {
        self.engine = engine
    }

    var vault: Vault { engine.vault }
    private var context: RenewalContext { engine.context }

    /// Intents that one pass checks; the next pass continues where it ended.
    private static let mostIntents = 1_000
    /// Renewals that one pass has in progress at a time.
    private static let mostAtOnce = 8
    /// How long an intent is left alone if no pass can do anything about it.
    private static let longRest = Duration.seconds(60)

    /// One pass of recovery: first the spooled replies, then open intents that no process is working on, in the order
    /// in which they were begun, then records that have been kept for long enough. Where there are very many intents,
    /// each pass checks some of them, and all have their turn.
    ///
    /// Any number of managers and processes may do this at once: each intent is claimed by one of them.
    func recover() async -> RecoveryReport {
        let restored = await context.restoreSpooled().count
        let open = await resting.nextPage(of: vault.store, limit: Self.mostIntents).filter {
            vault.owner(of: $0.record) == .gone
        }
        let now = vault.now
        let settled = await settle(open.filter { !resting.isResting($0, now: now) })
        await context.forgetAged()
        await context.announceUnreportedFailures()
        return RecoveryReport(
            restoredReplies: restored, settledRenewals: settled, openRenewals: open.count - settled)
    }

    /// The newest ends since the last call.
    func takeEnds() -> [End] {
        ends.withLock { ends in
            defer { ends = [] }
            return ends
        }
    }

    private func note(_ end: End) {
        ends.withLock { ends in
            // Two passes that look at the same time see the same end.
            guard !ends.contains(where: { $0.login == end.login && $0.fence == end.fence }) else { return }
            if ends.count == Self.mostIntents { ends.removeFirst() }
            ends.append(end)
        }
    }

    /// Whether no renewal is open, in any process. False if that is unknown.
    var hasNoOpenIntent: Bool {
        get async { (try? await vault.store.hasOpenIntents()) == false }
    }

    private func settle(_ intents: [StoredIntent]) async -> Int {
        await withTaskGroup(of: Bool.self) { group in
            var rest = intents[...]
            for _ in 0..<Self.mostAtOnce {
                guard let intent = rest.popFirst() else { break }
                group.addTask { await self.settle(intent) }
            }
            var settled = 0
            while let isSettled = await group.next() {
                if isSettled { settled += 1 }
                guard !Task.isCancelled, let intent = rest.popFirst() else { continue }
                group.addTask { await self.settle(intent) }
            }
            return settled
        }
    }

    /// Settles one login's open intent like a caller that needs the login; but at the pace of its provider, which the
    /// scheduler also keeps to.
    private func settle(_ intent: StoredIntent) async -> Bool {
        guard let provider = (try? await vault.store.login(intent.login))?.provider else { return await end(intent) }
        if let hold = context.health[provider].pace.hold(uptime: vault.timeSource.uptime()) {
            resting.rest(intent, until: vault.now.advanced(by: hold))
            return false
        }
        guard context.health.change(provider, { $0.pace.begin() }) else { return false }
        defer { context.health.change(provider) { $0.pace.end() } }
        return await end(intent)
    }

    private func end(_ intent: StoredIntent) async -> Bool {
        let startedAt = vault.now
        guard case .ended(let ending) = await engine.joinInBackground(intent.login, demand: .recovery) else {
            return false
        }
        switch ending {
        case .renewed, .successorOnly, .refused(.dead), .failed(.dead):
            note(End(login: intent.login, fence: intent.record.fence, ending: ending, startedAt: startedAt))
            return true
        case .satisfied, .superseded, .refused(.loginMissing):
            return true
        case .refused(.postponed(let until)), .refused(.breakerOpen(let until)),
            .refused(.providerStopped(let until)),
            .refused(.mayNotSendAgain(let until?)):
            resting.rest(intent, until: until)
        case .refused(.storeFailed), .refused(.storeBusy), .refused(.storageFull), .refused(.closed),
            .refused(.readOnly), .refused(.ownershipLost), .failed:
            break
        case .refused:
            resting.rest(intent, until: vault.now.advanced(by: Self.longRest))
        }
        return false
    }
}
