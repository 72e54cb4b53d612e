import Testing
import TokenVaultTesting
import VaultCrypto

@testable import VaultStorage

/// New data keys for users, on each engine.
@Suite struct DataKeyTests {
    private struct Scene {
        let vault: TestedStore
        let store: any VaultStore
        let users = ["alice", "bob", "carol"]

        init(_ place: TestedPlace) async throws {
            vault = try place.make()
            store = vault.store
            for user in users {
                for number in 0..<2 {
                    var draft = vault.draft(user)
                    draft.session.label = "\(number)"
                    draft.key = KeyRecord(dpopPrivateKey: SecretBytes(utf8: "key of \(user)"), nonces: ["a": "b"])
                    let login = try await store.insertLogin(draft)
                    try await store.keepUnusableReply(
                        UnusableReplyRecord(
                            login: login.handle, position: login.position, fence: 1, receivedAt: vault.now, status: 200,
                            contentType: nil, cause: "test", isComplete: true, body: Array("reply to \(user)".utf8)))
                }
            }
            vault.advance(by: .seconds(60))
        }

        func dataKey(of user: String) async throws -> SealingKey {
            try await store.write { transaction in
                let index = transaction.context.keyring.blindIndex(ofUserId: user)
                return try #require(try transaction.loadUser(index)).dataKey
            }
        }

        func check(_ store: any VaultStore) async throws {
            for user in users {
                let logins = try await store.user(user).logins
                #expect(logins.count == 2)
                for handle in logins {
                    let login = try await store.login(handle)
                    #expect(login.session.accessToken == SecretBytes(utf8: "access of \(user)"))
                    #expect(login.refresh?.refreshToken == SecretBytes(utf8: "refresh of \(user)"))
                    #expect(login.key?.dpopPrivateKey == SecretBytes(utf8: "key of \(user)"))
                    #expect(
                        try await store.unusableReplies(of: handle).compactMap(\.record?.body)
                            == [SecretBytes(utf8: "reply to \(user)")])
                }
            }
            #expect(try await store.verify().findings == [])
        }
    }

    @Test(arguments: TestedPlace.allCases) func oneUserGetsANewKeyAndNoOther(_ place: TestedPlace) async throws {
        let scene = try await Scene(place)
        let other = try scene.vault.open()
        defer { other.close() }
        _ = try await other.user("alice")
        let (alice, bob) = (try await scene.dataKey(of: "alice"), try await scene.dataKey(of: "bob"))
        try await scene.store.replaceDataKey(ofUser: "alice")
        #expect(try await !scene.dataKey(of: "alice").isSame(as: alice))
        #expect(try await scene.dataKey(of: "bob").isSame(as: bob))
        let fresh = try scene.vault.open()
        defer { fresh.close() }
        for store in [scene.store, other, fresh] { try await scene.check(store) }
        let told = try await scene.store.auditEntries(after: 0, limit: 1_000).filter { $0.kind == .dataKeyReplaced }
        #expect(told.count == 1)
        await #expect(throws: StoreError.self) { try await scene.store.replaceDataKey(ofUser: "nobody") }
    }

    @Test(arguments: TestedPlace.allCases) func allUsersGetOneAndTheYoungKeepTheirs(
        _ place: TestedPlace
    ) async throws {
        let scene = try await Scene(place)
        var before: [SealingKey] = []
        for user in scene.users { before.append(try await scene.dataKey(of: user)) }
        let begun = scene.vault.now
        try await scene.store.replaceDataKey(ofUser: "bob")
        let bob = try await scene.dataKey(of: "bob")
        let result = try await scene.store.replaceDataKeys(madeBefore: begun) { _, _ in }
        #expect(result.users == 2 && result.unreadable == 0)
        for (user, former) in zip(scene.users, before) {
            #expect(try await !scene.dataKey(of: user).isSame(as: former))
        }
        #expect(try await scene.dataKey(of: "bob").isSame(as: bob))
        try await scene.check(scene.store)
        // Nothing is left to be done.
        #expect(try await scene.store.replaceDataKeys(madeBefore: begun) { _, _ in }.users == 0)
    }

    /// What cannot be opened could never be opened again: its user is left as it is, and the others are not.
    @Test(arguments: TestedPlace.allCases) func aUserWithADamagedLoginKeepsTheKey(_ place: TestedPlace) async throws {
        let scene = try await Scene(place)
        let login = try await scene.store.user("bob").logins[0]
        let bob = try await scene.dataKey(of: "bob")
        try await scene.store.write { transaction in
            let (user, open) = try transaction.loadLogin(login)
            let update = try transaction.tables.cursor(
                .update(.login, "cell", first: 2, where: [.equal(Table.login["id"], 1)]))
            update.bind(1, open.columns.rowID)
            update.bind(2, [UInt8](repeating: 0, count: 200))
            try update.run()
            _ = user
        }
        await #expect(throws: StoreError.self) { try await scene.store.replaceDataKey(ofUser: "bob") }
        let result = try await scene.store.replaceDataKeys(madeBefore: scene.vault.now) { _, _ in }
        #expect(result.users == 2 && result.unreadable == 1)
        #expect(try await scene.dataKey(of: "bob").isSame(as: bob))
        let whole = try await scene.store.user("bob").logins[1]
        #expect(try await scene.store.login(whole).session.accessToken == SecretBytes(utf8: "access of bob"))
    }
}
