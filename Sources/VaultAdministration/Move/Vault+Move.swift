import FoundationEssentials
package import TokenVault
import VaultCrypto
import VaultStorage

extension Vault {
    /// Moves everything that this vault holds into another vault: from a file to a server, or back, or between two of a
    /// kind. Providers, users and logins keep their names: a ``LoginID`` that an app has stored names the same login
    /// there.
    ///
    /// Everything is sealed again under the target's keys. Held, dead and ended logins are moved as they are, and so
    /// are DPoP keys, refused and postponed renewals, pending revocations and log-ins. The audit trail, the key slots,
    /// the witness and the list of backups stay with the source; the target's trail names this vault and the end of its
    /// trail.
    ///
    /// First this vault is held, for good, in one transaction: from then on no process renews a login in it, and all
    /// calls that would change it throw ``VaultError/Code/moved``. Good access tokens are still served. The target
    /// refuses changes in the same way until everything has arrived. So no refresh token is ever sent from both;
    /// between the two moments it is sent from neither. If the move ends early, calling it again with the same two
    /// vaults continues it.
    ///
    /// - Parameters:
    ///   - target: A vault that holds nothing yet, or the target of this very move.
    ///   - timeLimit: How long to wait for renewals in progress. Stop the services that use the vault: then there are
    ///   none.
    ///   - progress: Called now and then with how many logins have been moved, of how many.
    /// - Throws: ``VaultError``: ``VaultError/Code/busy`` while a renewal is in progress or in doubt, or a reply waits
    ///   in the spool; ``VaultError/Code/damaged`` if a row cannot be opened; ``VaultError/Code/conflict`` if the
    ///   target is not empty, or one of the two is part of another move. Then nothing has changed.
    @discardableResult
    package func move(
        to target: Vault, timeLimit: Duration = .seconds(30),
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws -> MoveReport {
        try await move(to: target, timeLimit: timeLimit, progress: progress) { _ in }
    }

    /// - Parameter passed: Called after each step, when it is durable. An error from it ends the move there.
    package func move(
        to target: Vault, timeLimit: Duration, progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void,
        passed: @Sendable (MoveStep) throws -> Void
    ) async throws -> MoveReport {
        try requireOpen()
        try target.requireOpen()
        return try await VaultError.translating {
            let wasBegun = try await checkMove(to: target)
            try await hold(for: target, timeLimit)
            try passed(.sourceHeld)
            return try await fill(target, wasBegun: wasBegun, progress, passed)
        }
    }

    /// The rows that a move would bring, if nothing prevents it from beginning. Changes nothing.
    package func planMove(to target: Vault) async throws -> MoveReport {
        try requireOpen()
        try target.requireOpen()
        return try await VaultError.translating {
            let wasBegun = try await checkMove(to: target)
            if !wasBegun, try await store.hasOpenIntents() { throw await openRenewal() }
            return try await report(
                target, try await store.moveCounts(), try await eachPageOfPendingLogIns { _ in }, wasBegun: wasBegun)
        }
    }

    /// This vault's part in a move; nil: none.
    package func moveState() async throws -> MoveState? {
        try await VaultError.translating { try await store.moveMark().map { MoveState($0) } }
    }

    /// Gives up a move that is not complete: this vault takes changes again, and the target never does.
    ///
    /// - Parameter target: The move's target; nil if it is lost for good. Only then: if the target is still there, the
    ///   move could be completed later, and both vaults would renew the same logins.
    /// - Throws: ``VaultError/Code/conflict`` if everything is in the target already.
    package func abortMove(to target: Vault?) async throws {
        try requireOpen()
        try await VaultError.translating {
            let source = store.context.vaultID
            let mark = try await store.moveMark()
            guard let mark else {
                throw StoreError(
                    .conflict, "no move of this vault has begun",
                    hint: "there is nothing to give up: vaultctl move status")
            }
            guard mark.stage == .leaving || mark.stage == .left else {
                throw StoreError(
                    .conflict, "this vault is the target of a move, and not its source",
                    hint: "a move is given up at its source: vaultctl move abort TARGET --vault SOURCE")
            }
            guard mark.stage == .leaving else { throw StoreError.completeMove }
            guard target.map({ $0.store.context.vaultID == mark.other }) ?? true else { throw StoreError.otherMove }
            // The target first: it must not become complete once this vault renews again.
            if let target { try await target.store.abandonArrival(from: source) }
            try await store.stay(besides: target?.store.context.vaultID)
        }
    }
}

// MARK: - Before

extension Vault {
    /// Refuses anything that would be refused half-way. Returns whether an earlier run has begun.
    private func checkMove(to target: Vault) async throws -> Bool {
        let (source, other) = (store.context.vaultID, target.store.context.vaultID)
        guard source != other else {
            throw StoreError(
                .invalidValue, "the target of the move is the vault itself, or a copy of it: a move needs an empty one")
        }
        for refusal in [store.readOnlyRefusal, target.store.readOnlyRefusal] {
            if let refusal { throw refusal }
        }
        let mark = try await store.moveMark()
        let isBegun = mark.map { $0.other == other && ($0.stage == .leaving || $0.stage == .left) } ?? false
        if let refusal = mark?.refusal, !isBegun { throw refusal }
        let arrival = try await target.store.moveMark()
        guard arrival == nil || isBegun && arrival?.other == source else {
            throw arrival?.refusalAsTarget ?? StoreError.notEmpty
        }
        if arrival?.stage == .abandoned, let refusal = arrival?.refusalAsTarget { throw refusal }
        if arrival == nil { try await target.store.requireEmpty() }
        if isBegun { return true }
        try await requireNothingSpooled()
        if let row = try await store.damagedRows(limit: 1).first {
            throw StoreError(
                .damaged, "the vault has damaged rows, which cannot be moved: \(row.damage.message)",
                hint: "see what they are, and repair or discard them: vaultctl damage list")
        }
        return false
    }

    /// A reply that the vault has not yet stored may hold the only copy of a refresh token.
    private func requireNothingSpooled() async throws {
        let spool = store.spool
        let depth = try await BlockingLane.care.run { try spool.depth() }
        guard depth.entries > 0 || depth.damaged > 0 else { return }
        throw StoreError(
            .busy, "replies from providers wait in the spool until the vault can take them",
            hint: "let the vault take them: vaultctl maintain")
    }

    /// Why the move has to wait, with the logins that it waits for, and until when.
    private func openRenewal() async -> any Error {
        let (error, most) = (StoreError.renewalOpen, 3)
        let page = try? await store.openIntents(after: nil, limit: most + 1)
        guard let page, let first = page.intents.first else { return error }
        var (names, wait) = ([String](), Duration.seconds(1))
        for intent in page.intents.prefix(most) {
            var state = intent.record.isInDoubt ? "in doubt" : "under way"
            // A pause between two requests with one refresh token.
            if intent.record.isInDoubt, let end = try? await store.login(intent.login).session.notBefore, end > now {
                state += "; not sent again before \(end.date.formatted(.iso8601))"
                wait = max(wait, end.since(now))
            }
            names.append("\(LoginID(intent.login)) (\(state))")
        }
        let more = page.intents.count > most ? " and more" : ""
        return VaultError(
            .busy,
            "renewals are open, and their refresh tokens may be spent: " + names.joined(separator: ", ") + more,
            hint: (error.hint ?? "") + "; what it waits for: vaultctl login show \(LoginID(first.login))",
            retryAfter: wait)
    }

    private func hold(for target: Vault, _ timeLimit: Duration) async throws {
        let end = timeSource.uptime() + timeLimit
        while true {
            do {
                return try await store.leave(for: target.store.context.vaultID)
            } catch let error as StoreError where error.code == .busy {
                guard timeSource.uptime() < end else {
                    throw error == .renewalOpen ? await openRenewal() : error
                }
                try Task.checkCancellation()
                await pause(.milliseconds(250))
            }
        }
    }
}

// MARK: - Filling the target

extension Vault {
    private static let usersAtOnce = 64
    private static let loginsAtOnce = 256
    private static let rowsAtOnce = 256

    private func fill(
        _ target: Vault, wasBegun: Bool, _ progress: (_ done: Int, _ total: Int) -> Void,
        _ passed: (MoveStep) throws -> Void
    ) async throws -> MoveReport {
        let (source, other) = (store.context.vaultID, target.store.context.vaultID)
        // The vault is held, so these counts stay correct.
        let counts = try await store.moveCounts()
        var pending = 0
        if try await target.store.moveMark()?.stage != .arrived {
            try await target.store.arrive(
                from: source, head: try await store.trailHead(), incarnation: store.context.incarnation)
            try passed(.targetReady)
            try await moveProviders(to: target)
            try passed(.providers)
            try await moveRevocations(to: target)
            try passed(.revocations)
            pending = try await eachPageOfPendingLogIns {
                try await target.store.take($0, from: source)
            }
            try passed(.logIns)
            try await moveUsers(to: target, total: Int(counts.logins), progress, passed)
            try await target.store.finishArriving(from: source, counts)
            try passed(.targetComplete)
        }
        let report = try await report(target, counts, pending, wasBegun: wasBegun)
        try await store.finishLeaving(for: other, counts)
        try passed(.sourceComplete)
        return report
    }

    private func moveProviders(to target: Vault) async throws {
        try await eachPage({ try await store.providers(after: $0, limit: Self.rowsAtOnce) }, \.sequence) { page in
            let providers = try page.compactMap { listing throws(StoreError) in
                if let damage = listing.damage { throw damage }
                return listing.provider
            }
            try await target.store.take(providers, from: store.context.vaultID)
        }
    }

    private func moveRevocations(to target: Vault) async throws {
        try await eachPage({ try await store.outbox(after: $0, limit: Self.rowsAtOnce) }, \.sequence) { page in
            let entries = try page.compactMap { listing throws(StoreError) in
                if let damage = listing.damage { throw damage }
                return listing.entry
            }
            try await target.store.take(entries, from: store.context.vaultID)
        }
    }

    /// - Parameter end: Returns where a page with that last listing ends.
    private func eachPage<Listing>(
        _ read: (_ after: Int64?) async throws -> [Listing], _ end: (Listing) -> Int64,
        _ body: ([Listing]) async throws -> Void
    ) async throws {
        var last: Int64?
        while true {
            let page = try await read(last)
            try await body(page)
            guard page.count == Self.rowsAtOnce, let listing = page.last else { return }
            last = end(listing)
        }
    }

    /// Visits the log-ins that can still be completed. Returns how many there are.
    private func eachPageOfPendingLogIns(
        _ body: ([AuthorizationRequestRecord]) async throws -> Void
    ) async throws -> Int {
        var (last, count) = (nil as Int64?, 0)
        repeat {
            let page = try await store.pendingLogIns(after: last, limit: Self.rowsAtOnce)
            let pending = page.requests.filter { $0.expiresAt > now }
            try await body(pending)
            count += pending.count
            last = page.last
        } while last != nil
        return count
    }

    private func moveUsers(
        to target: Vault, total: Int, _ progress: (_ done: Int, _ total: Int) -> Void,
        _ passed: (MoveStep) throws -> Void
    ) async throws {
        var last: UserHandle?
        var (done, pages) = (0, 0)
        while true {
            try Task.checkCancellation()
            let page = try await store.movingUsers(
                after: last, users: Self.usersAtOnce, logins: Self.loginsAtOnce)
            if let end = page.users.last?.user.handle {
                try await target.store.take(page.users, from: store.context.vaultID)
                last = end
                done += page.loginCount
                pages += 1
                progress(done, total)
                try passed(.users(pages))
            }
            if page.isLast { return }
        }
    }

    private func report(
        _ target: Vault, _ counts: MoveCounts, _ pendingLogIns: Int, wasBegun: Bool
    ) async throws -> MoveReport {
        MoveReport(
            source: Base32.encode(store.context.vaultID), target: Base32.encode(target.store.context.vaultID), counts,
            pendingLogIns: pendingLogIns, auditHead: try await store.auditHead(),
            backups: try await store.backups().count, wasBegun: wasBegun)
    }
}
