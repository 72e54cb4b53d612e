import TestSupport
import Testing
import VaultCrypto

@testable import VaultStorage

/// Manifests that lie in parts, on each engine.
struct ManifestPartTests {
    /// So low that users with a few logins have parts, and that these are cut and joined again and again. Not one login in
    /// a part: of two that are named alike in the first ten bits, a thousand parts would come now and then.
    private static let low = ManifestLimits(mostWhole: 1, mostInPart: 2, fewestInPart: 1)

    private static func engines() throws -> [TestedVault] {
        try [
            TestedVault(SQLiteEngine(), manifestLimits: low), TestedVault(MemoryEngine(), manifestLimits: low),
            TestedVault(PostgreSQLEngine(), manifestLimits: low),
        ]
    }

    @Test func aVaultIsWholeWhileManifestsAreCutAndJoined() throws {
        var (changes, cuts, joins) = (0, 0, 0)
        for seed in 1...UInt64(6) {
            for vault in try Self.engines() {
                var random = SeededGenerator(seed: seed)
                var before: [Int64: Int] = [:]
                for step in 0..<80 {
                    changes += try vault.changeSomething(&random) ? 1 : 0
                    let parts = Dictionary(grouping: try vault.keys(of: .manifestPart)) { $0 >> 16 }.mapValues(\.count)
                    #expect(parts.values.allSatisfy { $0.nonzeroBitCount == 1 }, "\(parts)")
                    for user in Set(before.keys).union(parts.keys) {
                        let (former, now) = (before[user] ?? 0, parts[user] ?? 0)
                        if now > former { cuts += 1 }
                        if now < former { joins += 1 }
                    }
                    before = parts
                    guard step % 10 == 9 else { continue }
                    let report = try vault.check()
                    try #require(report.findings.isEmpty, "seed \(seed) on \(vault.name): \(report.findings)")
                }
                // Parts that name no login are sealed anew too.
                for user in TestedVault.users {
                    do { try vault.write { try $0.replaceDataKey(ofUser: user) } } catch let error as StoreError {
                        #expect(error.code == .notFound(.user))
                    }
                }
                #expect(try vault.check().findings.isEmpty, "seed \(seed) on \(vault.name)")
            }
        }
        print("manifests in parts: \(changes) changes, \(cuts) times cut, \(joins) times joined")
        #expect(changes > 1_000 && cuts > 50 && joins > 20)
    }

    /// As ``VaultOnEngineTests/everyChangedColumnIsFoundOnEachEngine()``, of users with parts.
    @Test func everyChangedPartIsFoundOnEachEngine() throws {
        for vault in try Self.engines() {
            var random = SeededGenerator(seed: 11)
            var (keys, changes) = ([Int64](), 0)
            while keys.count < 4 || changes < 60 {
                try #require(changes < 1_000)
                _ = try vault.changeSomething(&random)
                changes += 1
                keys = try vault.keys(of: .manifestPart)
            }
            for key in keys.prefix(32) {
                for field in Table.manifestPart.fields {
                    #expect(try vault.isFound(changing: field, of: .manifestPart, key) == true)
                }
            }
            #expect(try vault.check().findings.isEmpty)
        }
    }

    // MARK: As an app uses them

    private struct Scene {
        let vault: TestedStore
        let store: any VaultStore
        let logins: [LoginHandle]

        init(_ place: TestedPlace, logins count: Int) async throws {
            vault = try place.make()
            store = vault.store
            let drafts = (0..<count).map { [vault] _ in vault.draft("alice") }
            logins = try await store.write { transaction in
                try drafts.map { try transaction.insertLogin($0).handle }
            }
            _ = try await store.insertLogin(vault.draft("bob"))
        }

        func parts() async throws -> Int64 {
            try await store.write { try $0.tables.count(.manifestPart) }
        }

        func remove(_ some: some Sequence<LoginHandle> & Sendable) async throws {
            try await store.write { transaction in
                for login in some { try transaction.updateLogin(login) { $0.isRemoved = true } }
            }
        }
    }

    @Test(arguments: TestedPlace.allCases)
    func aManifestIsCutAboveItsLimitAndJoinedAgain(_ place: TestedPlace) async throws {
        let scene = try await Scene(place, logins: 64)
        #expect(try await scene.parts() == 0)
        let more = try await scene.store.insertLogin(scene.vault.draft("alice")).handle
        #expect(try await scene.parts() == 1)
        #expect(try await scene.store.verify().findings == [])
        // Not at once: a user at the limit must not be cut and joined with each login.
        try await scene.remove([more])
        #expect(try await scene.parts() == 1)
        try await scene.remove(scene.logins.prefix(32))
        #expect(try await scene.parts() == 0)
        #expect(try await scene.store.user("alice").logins == Array(scene.logins.dropFirst(32)))
        #expect(try await scene.store.verify().findings == [])
    }

    @Test(arguments: TestedPlace.allCases)
    func aUserWithManyLoginsIsReadAndChanged(_ place: TestedPlace) async throws {
        let scene = try await Scene(place, logins: 300)
        let store = scene.store
        #expect(try await scene.parts() >= 4)
        let other = try scene.vault.open()
        defer { other.close() }
        for reader in [store, other] {
            #expect(try await reader.user("alice").logins == scene.logins)
            let counts = try await reader.users(after: nil, limit: 10).compactMap(\.user?.logins.count)
            #expect(counts.sorted() == [1, 300])
            for login in [scene.logins[0], scene.logins[299]] {
                #expect(try await reader.session(.login(login)).login == login)
                #expect(try await reader.session(.login(login, ofUsers: "alice")).login == login)
                #expect(try await reader.login(login).userId == "alice")
            }
            let unknown = LoginHandle.random()
            await #expect(throws: StoreError.notFound(.login)) {
                try await reader.session(.login(unknown, ofUsers: "alice"))
            }
            let bobs = try await reader.user("bob").logins[0]
            await #expect(throws: StoreError.notFound(.login)) {
                try await reader.session(.login(bobs, ofUsers: "alice"))
            }
            let error = await #expect(throws: StoreError.self) { try await reader.session(.user("alice")) }
            guard case .ambiguousLogin(let named)? = error?.code else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(Set(named) == Set(scene.logins))
            let listed = try await reader.logins(ofUser: "alice", after: nil, limit: 1_000)
            #expect(listed.map(\.handle.bytes) == scene.logins.map(\.bytes).sorted())
            #expect(listed.allSatisfy { $0.damage == nil })
            let page = try await reader.logins(ofUser: nil, after: nil, limit: 1_000)
            #expect(page.count == 301 && page.allSatisfy { $0.damage == nil })
        }
        try await store.updateUser("alice") { state in
            for index in state.logins.indices { state.logins[index].session.label = "x" }
            state.status = .disabled
        }
        #expect(try await other.login(scene.logins[7]).session.label == "x")
        #expect(try await other.user("alice").status == .disabled)
        try await store.replaceDataKey(ofUser: "alice")
        #expect(try await other.login(scene.logins[7]).session.label == "x")
        #expect(try await other.verify().findings == [])
        _ = try await store.rotateRootKey(pause: {}) { _ in }
        #expect(try await other.session(.login(scene.logins[8])).login == scene.logins[8])
        #expect(try await store.verify().findings == [])
        try await store.updateUser("alice") { $0.isErased = true }
        #expect(try await scene.parts() == 0)
        #expect(try await store.verify().findings == [])
    }

    /// A user's row and a part of the manifest are two questions: what lies between them must not look like damage.
    @Test(arguments: TestedPlace.allCases)
    func readersBesideAWriterMeetNoDamage(_ place: TestedPlace) async throws {
        let scene = try await Scene(place, logins: 70)
        let other = try scene.vault.open()
        defer { other.close() }
        let logins = Array(scene.logins.prefix(4))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 0..<100 {
                    try await scene.store.updateLogin(logins[number % 4]) { $0.session.label = "\(number)" }
                }
            }
            group.addTask { @concurrent in
                for number in 0..<300 {
                    _ = try await other.session(.login(logins[number % 4]))
                    _ = try await other.login(logins[number % 4])
                }
                for _ in 0..<5 {
                    let listed = try await other.logins(ofUser: nil, after: nil, limit: 100)
                    #expect(listed.compactMap(\.damage).isEmpty)
                    #expect(try await other.user("alice").logins.count == 70)
                    #expect(try await other.damagedRows(limit: 10).isEmpty)
                }
            }
            try await group.waitForAll()
        }
    }
}
