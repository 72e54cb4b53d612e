import Foundation
import Synchronization
import Testing
import TokenVaultTesting
import VaultCrypto

@testable import VaultStorage

/// Replacements of the index key, on each engine.
@Suite struct IndexKeyTests {
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
            for state in ["first", "second"] {
                try await store.putAuthorizationRequest(vault.request(state, for: provider))
            }
        }

        /// Everything is found by what the app knows of it.
        func check(_ store: any VaultStore) async throws {
            for (number, login) in logins.enumerated() {
                let user = "user \(number)"
                #expect(try await store.session(.user(user)).login == login)
                #expect(try await store.session(.login(login, ofUsers: user)).login == login)
                #expect(try await store.user(user).logins == [login])
                #expect(try await store.logins(ofUser: user, after: nil, limit: 10).map(\.handle) == [login])
                #expect(try await store.providers(ofUser: user) == [provider])
                try await store.updateUser(user) { state in #expect(state.logins.map(\.handle) == [login]) }
            }
            #expect(try await store.provider(named: "acme").handle == provider)
            for name in ["no such", ""] {
                await #expect(throws: StoreError.notFound(.provider)) { try await store.provider(named: name) }
                await #expect(throws: StoreError.notFound(.user)) { try await store.user(name) }
            }
            #expect(try await store.providers(ofUser: "no such").isEmpty)
            #expect(try await store.verify().findings == [])
        }

        func take(_ state: String, in store: any VaultStore) async throws -> ProviderHandle {
            let proof = CallbackProof(state: SecretBytes(utf8: state), binding: .unbound, userId: "alice")
            return try await store.takeAuthorizationRequest(proof).provider
        }

        /// What the rows are found by.
        func indexes(_ keyring: Keyring) -> [BlindIndex] {
            logins.indices.map { keyring.blindIndex(ofUserId: "user \($0)") }
                + ["acme", "other"].map { keyring.blindIndex(ofProviderName: $0) }
                + ["first", "second"].map { keyring.blindIndexes(ofState: SecretBytes(utf8: $0)).current }
        }
    }

    private static func replace(_ store: any VaultStore) async throws -> IndexKeyReport {
        try await store.replaceIndexKey { _, _ in }
    }

    @Test(arguments: TestedPlace.allCases) func everyRowHasANewIndexAndTheOldKeyIsGone(
        _ place: TestedPlace
    ) async throws {
        let populated = try await Populated(place)
        let store = populated.store
        let former = store.context.keyring
        #expect(try await store.indexKeyStatus() == IndexKeyStatus(madeAt: nil, isReplacing: false))
        let other = try populated.vault.open()
        defer { other.close() }
        _ = try await other.session(.user("user 0"))
        populated.vault.advance(by: .seconds(60))
        let report = try await Self.replace(store)
        #expect(report.isComplete && !report.isResumed)
        #expect(report.moved.users == 5 && report.moved.providers == 2 && report.moved.authorizationRequests == 2)
        let status = try await store.indexKeyStatus()
        #expect(status == IndexKeyStatus(madeAt: populated.vault.now, isReplacing: false))
        // One process that was there before and has not looked, one that comes now, and the one that did it.
        #expect(other.context.keyring.indexKey.isSame(as: former.indexKey))
        let fresh = try populated.vault.open()
        defer { fresh.close() }
        #expect(fresh.context.keyring.formerIndexKey == nil)
        #expect(!fresh.context.keyring.indexKey.isSame(as: former.indexKey))
        #expect(fresh.context.keyring.primaryRoot.isSame(as: former.primaryRoot))
        for reader in [other, fresh, store] { try await populated.check(reader) }
        #expect(try await populated.take("first", in: other) == populated.provider)
        #expect(try await populated.take("second", in: fresh) == populated.provider)
        let phases = try await store.auditEntries(after: 0, limit: 1_000).filter { $0.kind == .indexKeyReplaced }
            .map { $0.value("phase") }
        #expect(phases == ["begun", "retired"])
    }

    @Test func nothingInTheFilesIsFoundByTheOldKey() async throws {
        let populated = try await Populated(.file)
        let before = populated.indexes(populated.store.context.keyring)
        func stillThere(_ indexes: [BlindIndex]) throws -> Int {
            let bytes = Data(try #require(try populated.vault.fileBytes()))
            return indexes.count { bytes.range(of: Data($0.bytes.array)) != nil }
        }
        // The files are read while no store has them: closing another descriptor would drop SQLite's locks.
        populated.store.close()
        #expect(try stillThere(before) == before.count)
        let store = try populated.vault.open()
        #expect(try await Self.replace(store).isComplete)
        #expect(await store.removeRemnants() == .gone)
        store.close()
        #expect(try stillThere(before) == 0)
        #expect(try stillThere(populated.indexes(store.context.keyring)) == before.count)
    }

    @Test(arguments: TestedPlace.allCases) func rowsAreFoundUnderEitherKeyMeanwhile(_ place: TestedPlace) async throws {
        let populated = try await Populated(place, users: 7)
        let store = populated.store
        let stale = try populated.vault.open()
        defer { stale.close() }
        #expect(try await store.write { try $0.beginIndexReplacement() })
        #expect(try await store.write { try !$0.beginIndexReplacement() })
        let first = try await store.write { try $0.reindexUsers(after: .min, limit: 3) }
        #expect(first.moved.users == 3 && first.looked == 3)
        let fresh = try populated.vault.open()
        for reader in [stale, fresh, store] { try await populated.check(reader) }
        // What is there under the former key is not made a second time under the new one.
        let users = [try await store.user("user 6").handle, try await store.user("user 0").handle]
        #expect(try await fresh.insertLogin(populated.vault.draft("user 6")).user == users[0])
        #expect(try await fresh.insertLogin(populated.vault.draft("user 0")).user == users[1])
        await #expect(throws: StoreError.self) {
            try await fresh.putProvider(populated.vault.provider("acme"), replacing: nil)
        }
        #expect(try await populated.take("first", in: stale) == populated.provider)
        _ = try await store.insertLogin(populated.vault.draft("new"))
        try await fresh.updateUser("user 5") { $0.status = .disabled }
        #expect(try await stale.user("user 5").status == .disabled)
        // Another process completes it, whatever became of this one.
        store.close()
        let report = try await Self.replace(fresh)
        #expect(report.isResumed && report.isComplete && report.moved.users == 4)
        #expect(report.moved.authorizationRequests == 1 && report.moved.providers == 2)
        #expect(try await stale.user("new").id == "new")
        #expect(try await populated.take("second", in: stale) == populated.provider)
        #expect(try await fresh.verify().findings == [])
        fresh.close()
    }

    @Test(arguments: TestedPlace.allCases) func damagedRowsKeepTheFormerKey(_ place: TestedPlace) async throws {
        let populated = try await Populated(place)
        let store = populated.store
        let whole = try await store.write { try Self.swapCell(ofUserRow: 2, for: nil, $0) }
        _ = try await store.write { try Self.swapCell(ofUserRow: 2, for: whole.map { $0 ^ 1 }, $0) }
        let report = try await Self.replace(store)
        #expect(!report.isComplete && report.unreadable.users == 1 && report.moved.users == 4)
        #expect(try await store.indexKeyStatus().isReplacing)
        let fresh = try populated.vault.open()
        defer { fresh.close() }
        // It is found, and known to be damaged: no second user of that id is made.
        for reader in [store, fresh] {
            let error = await #expect(throws: StoreError.self) { try await reader.user("user 1") }
            #expect(error?.isOfRow == true)
            await #expect(throws: StoreError.self) { try await reader.insertLogin(populated.vault.draft("user 1")) }
        }
        _ = try await store.write { try Self.swapCell(ofUserRow: 2, for: whole, $0) }
        let second = try await Self.replace(fresh)
        #expect(second.isComplete && second.isResumed && second.moved.users == 1)
        for reader in [store, fresh] { try await populated.check(reader) }
    }

    @Test(arguments: TestedPlace.allCases) func onlyTheKeyThatWasLookedForIsGivenUp(_ place: TestedPlace) async throws {
        let populated = try await Populated(place, users: 1)
        let store = populated.store
        #expect(try await store.write { try $0.beginIndexReplacement() })
        let first = try #require(try await store.write { $0.formerIndexKey })
        // Another process completes this one and begins the next, before this one comes to its end.
        #expect(try await Self.replace(store).isComplete)
        #expect(try await store.write { try $0.beginIndexReplacement() })
        try await store.write { try $0.retireIndexKey(first) }
        #expect(try await store.indexKeyStatus().isReplacing)
        try await populated.check(store)
    }

    @Test(arguments: TestedPlace.allCases) func othersReadAndWriteMeanwhile(_ place: TestedPlace) async throws {
        let populated = try await Populated(place, users: 450)
        let other = try populated.vault.open()
        defer { other.close() }
        let isDone = Mutex(false)
        let count = Mutex(0)
        let logins = populated.logins
        async let work: Void = {
            defer { isDone.withLock { $0 = true } }
            while !isDone.withLock({ $0 }) {
                let round = count.withLock { $0 }
                let user = "user \((round * 7) % logins.count)"
                #expect(try await other.session(.user(user)).login == logins[(round * 7) % logins.count])
                try await other.updateUser(user) { $0.status = .active }
                #expect(try await other.provider(named: "acme").handle == populated.provider)
                count.withLock { $0 += 1 }
                await Task.yield()
            }
        }()
        for _ in 0..<3 {
            let before = count.withLock { $0 }
            while count.withLock({ $0 }) == before, !isDone.withLock({ $0 }) { await Task.yield() }
            #expect(try await Self.replace(populated.store).isComplete)
        }
        isDone.withLock { $0 = true }
        try await work
        for reader in [other, populated.store] { try await populated.check(reader) }
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
}

extension Query {
    fileprivate static let setUserCell = update(.user, "cell", first: 2, where: [.equal(Table.user["id"], 1)])
}
