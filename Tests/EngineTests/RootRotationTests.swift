import Synchronization
import Testing
import TokenVaultTesting
import VaultCrypto

@testable import VaultStorage

/// Rotations of the root key, on each engine.
@Suite struct RootRotationTests {
    private struct Populated {
        let vault: TestedStore
        let store: any VaultStore
        let provider: ProviderHandle
        let logins: [LoginHandle]

        init(_ place: TestedPlace, users: Int = 5) async throws {
            vault = try place.make()
            store = vault.store
            provider = try await store.putProvider(vault.provider("acme"), replacing: nil).handle
            _ = try await store.putProvider(vault.provider("other"), replacing: nil)
            var logins: [LoginHandle] = []
            for number in 0..<users {
                logins.append(
                    try await store.insertLogin(vault.draft("user \(number)", provider: provider)).handle)
            }
            self.logins = logins
            try await store.putAuthorizationRequest(vault.request("state", for: provider))
            try await store.addOutbox([vault.revocation("revoked", at: provider)])
        }

        func check(_ store: any VaultStore) async throws {
            for (number, login) in logins.enumerated() {
                let found = try await store.login(login)
                #expect(found.session.accessToken == SecretBytes(utf8: "access of user \(number)"))
                #expect(found.refresh?.refreshToken == SecretBytes(utf8: "refresh of user \(number)"))
                #expect(try await store.session(.user("user \(number)")).login == login)
            }
            #expect(try await store.provider(named: "acme").handle == provider)
            #expect(try await store.outbox(after: nil, limit: 10).map { $0.damage } == [nil])
            #expect(try await store.verify().findings == [])
        }
    }

    private static func rotate(
        _ store: any VaultStore, goesBack: Bool = false, pause: () async throws -> Void = { throw GivenUp() }
    ) async throws -> RootRotationReport {
        try await store.rotateRootKey(goesBack: goesBack, pause: pause) { _ in }
    }

    private struct GivenUp: Error {}

    @Test(arguments: TestedPlace.allCases) func everythingIsSealedAnewAndTheOldRootIsGone(
        _ place: TestedPlace
    ) async throws {
        let populated = try await Populated(place)
        let store = populated.store
        let before = try await store.rootRotation()
        #expect(before.retiring.isEmpty && before.primaryMadeAt == nil)
        let other = try populated.vault.open()
        defer { other.close() }
        _ = try await other.session(.user("user 0"))
        populated.vault.advance(by: .seconds(60))
        let report = try await Self.rotate(store)
        #expect(report.resealed.users == 5 && report.resealed.providers == 2)
        #expect(report.resealed.authorizationRequests == 1 && report.resealed.outbox == 1)
        #expect(report.retired == [before.primary] && report.kept.isEmpty && report.obstacles.isEmpty)
        #expect(!report.isResumed)
        let after = try await store.rootRotation()
        #expect(after.primary != before.primary && after.retiring.isEmpty && after.rest.total == 0)
        #expect(after.primaryMadeAt == populated.vault.now)
        // One process that was there before, one that comes now, and the one that did it.
        let fresh = try populated.vault.open()
        defer { fresh.close() }
        for reader in [store, other, fresh] { try await populated.check(reader) }
        #expect(fresh.context.keyring.root(for: before.primary) == nil)
        try await other.updateLogin(populated.logins[0]) { $0.session.label = "changed" }
        #expect(try await fresh.login(populated.logins[0]).session.label == "changed")
        let proof = CallbackProof(
            state: SecretBytes(utf8: "state"), binding: .unbound, userId: "alice")
        #expect(try await fresh.takeAuthorizationRequest(proof).provider == populated.provider)
        let phases = try await store.auditEntries(after: 0, limit: 1_000).filter { $0.kind == .rootKeyRotated }
            .map { $0.value("phase") }
        #expect(phases == ["begun", "providers", "retired"])
    }

    @Test(arguments: TestedPlace.allCases) func anotherProcessResumesAnInterruptedRotation(
        _ place: TestedPlace
    ) async throws {
        let populated = try await Populated(place, users: 7)
        let old = try await populated.store.rootRotation().primary
        #expect(try await populated.store.write { try $0.beginRootRotation() })
        let first = try await populated.store.write { try $0.resealUsers(under: old, after: .min, limit: 3) }
        #expect(first.cells.users == 3 && first.last != nil)
        let status = try await populated.store.rootRotation()
        #expect(status.retiring == [old] && status.rest.users == 4 && status.rest.providers == 2)
        try await populated.check(populated.store)
        populated.store.close()
        let next = try populated.vault.open()
        defer { next.close() }
        try await populated.check(next)
        let report = try await Self.rotate(next)
        #expect(report.isResumed && report.resealed.users == 4 && report.retired == [old])
        try await populated.check(next)
    }

    @Test(arguments: TestedPlace.allCases) func anAbortedRotationGoesBackToTheFormerRoot(
        _ place: TestedPlace
    ) async throws {
        let populated = try await Populated(place)
        let store = populated.store
        await #expect(throws: StoreError.self) { _ = try await Self.rotate(store, goesBack: true) }
        let old = try await store.rootRotation().primary
        #expect(try await store.write { try $0.beginRootRotation() })
        _ = try await store.write { try $0.resealUsers(under: old, after: .min, limit: 2) }
        let new = try await store.rootRotation().primary
        let report = try await Self.rotate(store, goesBack: true)
        #expect(report.primary == old && report.retired == [new] && report.resealed.users == 2)
        let after = try await store.rootRotation()
        #expect(after.primary == old && after.retiring.isEmpty)
        try await populated.check(store)
    }

    @Test(arguments: TestedPlace.allCases) func aReplyInTheSpoolKeepsItsRoot(_ place: TestedPlace) async throws {
        let populated = try await Populated(place)
        let store = populated.store
        let login = try await store.login(populated.logins[0])
        let spooled = try store.spool.add(populated.vault.reply(to: login))
        let old = try await store.rootRotation().primary
        let report = try await Self.rotate(store)
        #expect(report.obstacles == [.spooled(owners: [store.owner])] && report.kept == [old])
        #expect(try store.spool.listings().compactMap(\.reply?.accessToken) == [SecretBytes(utf8: "spooled")])
        // What is spooled from now on is sealed under the new root.
        _ = try store.spool.add(populated.vault.reply(to: login))
        try store.spool.remove(spooled)
        let second = try await Self.rotate(store)
        #expect(second.isResumed && second.retired == [old] && second.resealed.total == 0)
        #expect(try store.spool.listings().count { $0.reply != nil } == 1)
    }

    @Test(arguments: TestedPlace.allCases) func aProcessThatDidNotLookSpoolsUnderTheNewRoot(
        _ place: TestedPlace
    ) async throws {
        let populated = try await Populated(place)
        let store = populated.store
        let other = try populated.vault.open()
        defer { other.close() }
        let login = try await store.login(populated.logins[0])
        let old = other.context.primaryRoot
        #expect(try await Self.rotate(store).retired == [old] && other.context.primaryRoot == old)
        _ = try other.spool.add(populated.vault.reply(to: login))
        #expect(try store.spool.roots().map(\.root) == [store.context.primaryRoot])
    }

    @Test(arguments: TestedPlace.allCases) func renewalsOfOtherProcessesAreWaitedFor(
        _ place: TestedPlace
    ) async throws {
        let populated = try await Populated(place)
        let store = populated.store
        let other = try populated.vault.open()
        let (login, owner, now) = (populated.logins[0], other.owner, populated.vault.now)
        try await other.updateLogin(login) { _ = $0.openIntent(owner: owner, at: now) }
        let old = try await store.rootRotation().primary
        let report = try await Self.rotate(store)
        #expect(report.obstacles == [.busy(owners: [owner])] && report.kept == [old])
        let rounds = Mutex(0)
        let second = try await Self.rotate(store) {
            rounds.withLock { $0 += 1 }
            try await other.updateLogin(login) { $0.intent = nil }
        }
        #expect(second.retired == [old] && rounds.withLock { $0 } == 1)
        // Those of a process that has ended hold nothing up, nor do one's own.
        try await other.updateLogin(login) { _ = $0.openIntent(owner: owner, at: now) }
        other.close()
        let mine = store.owner
        try await store.updateLogin(populated.logins[1]) { _ = $0.openIntent(owner: mine, at: now) }
        #expect(try await Self.rotate(store).obstacles.isEmpty)
    }

    @Test(arguments: TestedPlace.allCases) func damagedRowsStayAsTheyAreAndKeepTheirRoot(
        _ place: TestedPlace
    ) async throws {
        let populated = try await Populated(place)
        let store = populated.store
        let old = try await store.rootRotation().primary
        let whole = try await store.write { try Self.swapCell(ofUserRow: 2, for: nil, $0) }
        let damaged = whole.map { $0 ^ 1 }
        _ = try await store.write { try Self.swapCell(ofUserRow: 2, for: damaged, $0) }
        let report = try await Self.rotate(store)
        var unreadable = RootSealedCells()
        unreadable.users = 1
        #expect(report.obstacles == [.unreadable(unreadable)] && report.kept == [old])
        #expect(report.resealed.users == 4)
        let left = try await store.write { try Self.swapCell(ofUserRow: 2, for: whole, $0) }
        #expect(left == damaged)
        let second = try await Self.rotate(store)
        #expect(second.resealed.users == 1 && second.retired == [old])
        try await populated.check(store)
    }

    /// Gives what was there.
    private static func swapCell(
        ofUserRow id: Int64, for cell: [UInt8]?, _ transaction: WriteTransaction
    ) throws -> [UInt8] {
        let row = try transaction.tables.cursor(.userByRow)
        row.bind(1, id)
        let isThere = try row.step()
        try #require(isThere)
        let old = row.bytes(UserColumns.cellColumn)
        row.reset()
        guard let cell else { return old }
        let update = try transaction.tables.cursor(.setUserCell)
        update.bind(1, id)
        update.bind(2, cell)
        try update.run()
        return old
    }

    @Test(arguments: TestedPlace.allCases) func othersReadAndWriteMeanwhile(_ place: TestedPlace) async throws {
        let populated = try await Populated(place, users: 450)
        let other = try populated.vault.open()
        defer { other.close() }
        let isDone = Mutex(false)
        let count = Mutex(0)
        let logins = populated.logins
        async let work: Void = {
            while !isDone.withLock({ $0 }) {
                let changes = count.withLock { $0 }
                try await other.updateLogin(logins[changes % logins.count]) { $0.session.attempts += 1 }
                _ = try await other.session(.user("user \((changes * 7) % logins.count)"))
                count.withLock { $0 += 1 }
                await Task.yield()
            }
        }()
        for _ in 0..<3 {
            let before = count.withLock { $0 }
            while count.withLock({ $0 }) == before { await Task.yield() }
            let report = try await Self.rotate(populated.store)
            #expect(report.obstacles.isEmpty && report.retired.count == 1)
        }
        isDone.withLock { $0 = true }
        try await work
        let changes = count.withLock { $0 }
        let attempts = try await populated.store.survey { reader in
            try logins.map { try reader.login($0).session.attempts }.reduce(0, +)
        }
        #expect(attempts == changes)
        try await populated.check(other)
    }
}

extension Query {
    fileprivate static let setUserCell = update(.user, "cell", first: 2, where: [.equal(Table.user["id"], 1)])
}
