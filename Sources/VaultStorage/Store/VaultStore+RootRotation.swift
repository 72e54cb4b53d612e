import VaultCrypto

extension VaultStore {
    package func rootRotation() async throws -> RootRotationStatus {
        try await survey { try $0.rootRotation() }
    }

    /// The number of users in one transaction: other writers wait for some milliseconds at most.
    private static var batchSize: Int { 200 }

    /// Makes a new root key, reseals everything under it, and retires the old one. If a rotation was interrupted, it is
    /// continued. All other operations continue in the meantime, in all processes.
    ///
    /// - Parameters:
    ///   - goesBack: Whether to go back to the former root instead.
    ///   - pause: Called between two checks of whether other processes have ended the renewals that they began under
    ///     the old root; throws when that has taken long enough.
    package func rotateRootKey(
        goesBack: Bool = false, pause: () async throws -> Void,
        _ progress: @escaping @Sendable (RootRotationProgress) -> Void
    ) async throws -> RootRotationReport {
        let isBegun = try await write { transaction in
            if goesBack {
                try transaction.abortRootRotation()
                return false
            }
            return try transaction.beginRootRotation()
        }
        let status = try await rootRotation()
        var report = RootRotationReport(primary: status.primary, isResumed: !isBegun)
        var unreadable = RootSealedCells()
        for root in status.retiring {
            let total = status.rest.users
            try await resealAll { transaction, last in
                try transaction.resealUsers(under: root, after: last, limit: Self.batchSize)
            } then: { batch in
                report.resealed.add(batch.cells)
                unreadable.add(batch.unreadable)
                progress(
                    RootRotationProgress(
                        phase: .sealing, done: min(report.resealed.users + unreadable.users, total), total: total))
            }
        }
        for table in [Table.provider, .authorizationRequest, .outbox] {
            try await resealAll { transaction, last in
                try transaction.resealRest(of: table, after: last, limit: Self.batchSize)
            } then: { batch in
                report.resealed.add(batch.cells)
                unreadable.add(batch.unreadable)
            }
        }
        if unreadable.total > 0 { report.obstacles.append(.unreadable(unreadable)) }
        try await verifyUsers(progress)
        let busy = try await ownersThatBegan(before: pause, progress)
        if !busy.isEmpty { report.obstacles.append(.busy(owners: busy)) }
        let spooled = try spool.roots().filter { status.retiring.contains($0.root) }
        if !spooled.isEmpty { report.obstacles.append(.spooled(owners: Set(spooled.map(\.owner)).sorted())) }
        let kept = busy.isEmpty ? Set(spooled.map(\.root)) : Set(status.retiring)
        report.retired = try await write { try $0.retireRoots(except: kept) }
        report.kept = status.retiring.filter { !report.retired.contains($0) }
        return report
    }

    /// Runs one transaction per batch until no rows remain.
    private func resealAll(
        _ reseal: @escaping @Sendable (WriteTransaction, _ last: Int64) throws -> WriteTransaction.Resealed,
        then note: (WriteTransaction.Resealed) -> Void
    ) async throws {
        var last: Int64 = .min
        while true {
            let after = last
            let batch = try await write { try reseal($0, after) }
            note(batch)
            guard let end = batch.last else { return }
            last = end
            try Task.checkCancellation()
        }
    }

    private func verifyUsers(_ progress: @escaping @Sendable (RootRotationProgress) -> Void) async throws {
        try await survey { reader in
            let total = try reader.userCount()
            var (first, done): (Int64?, Int) = (.min, 0)
            while let start = first {
                let page = try reader.verifyUserCells(from: start, limit: 256)
                done += page.opened
                first = page.next
                progress(RootRotationProgress(phase: .verifying, done: min(done, total), total: total))
                if BlockingWork.isCancelled { throw CancellationError() }
            }
        }
    }

    /// The other processes whose current renewals are still open after the wait.
    ///
    /// A process that has not checked the vault since spools a reply under the root that was primary when it began the
    /// renewal. Renewals that begin from now on use the new root.
    private func ownersThatBegan(
        before pause: () async throws -> Void, _ progress: (RootRotationProgress) -> Void
    ) async throws -> [Int64] {
        var old = try await intentsOfOthers()
        let total = old.count
        while !old.isEmpty {
            progress(RootRotationProgress(phase: .waiting, done: total - old.count, total: total))
            do { try await pause() } catch is CancellationError { throw CancellationError() } catch { break }
            old.formIntersection(try await intentsOfOthers())
        }
        return Set(old.map(\.owner)).sorted()
    }

    private func intentsOfOthers() async throws -> Set<BegunRenewal> {
        var begun: Set<BegunRenewal> = []
        var after: Int64?
        repeat {
            let page = try await openIntents(after: after, limit: 1_000)
            for intent in page.intents where intent.record.ownerLives && intent.record.owner != owner {
                begun.insert(BegunRenewal(owner: intent.record.owner, fence: intent.record.fence))
            }
            after = page.next
        } while after != nil
        return begun
    }
}

private struct BegunRenewal: Hashable {
    let owner: Int64
    let fence: Int64
}
