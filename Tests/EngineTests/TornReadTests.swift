import TestSupport
import Testing
import VaultCrypto

@testable import TokenVaultTesting
@testable import VaultStorage

/// Another process commits between two queries of one reading, on an engine whose queries each see what was committed
/// last. Whatever is read is of the time before or of the time after, and nothing is called damaged.
@Suite struct TornReadTests {
    /// A vault in which everything lies that there can be.
    fileprivate struct Scene {
        let vault: TestedStore
        let store: MemoryVaultStore
        let provider: ProviderHandle
        let other: ProviderHandle
        /// Of alice, of bob, and one of many's.
        let logins: [LoginHandle]
        let bob: UserHandle
        let entry: OutboxHandle

        init() async throws {
            vault = try TestedStore(.memory)
            store = try #require(vault.store as? MemoryVaultStore)
            provider = try await store.putProvider(vault.provider("acme"), replacing: nil).handle
            other = try await store.putProvider(vault.provider("other"), replacing: nil).handle
            let alice = try await store.insertLogin(vault.draft("alice", provider: provider, dueIn: .zero))
            let bob = try await store.insertLogin(vault.draft("bob", provider: provider, dueIn: .zero))
            var many: LoginHandle?
            // More than fit into a manifest without parts.
            for _ in 0..<70 { many = try await store.insertLogin(vault.draft("many", provider: provider)).handle }
            logins = [alice.handle, bob.handle, try #require(many)]
            self.bob = bob.user
            let now = vault.now
            try await store.updateLogin(bob.handle) { state in _ = state.openIntent(owner: 7, at: now) }
            try await store.putAuthorizationRequest(vault.request("state", for: provider))
            try await store.addOutbox([vault.revocation("refresh", at: provider)])
            entry = try #require(try await store.outbox(after: nil, limit: 10).first?.handle)
            try await store.keepUnusableReply(
                UnusableReplyRecord(
                    login: alice.handle, position: alice.position, fence: 1, receivedAt: vault.now, status: 200,
                    contentType: nil, cause: "test", isComplete: true, body: [1, 2, 3]))
        }
    }

    /// What another process does meanwhile.
    enum Change: CaseIterable {
        case indexKey, twoIndexKeys, rootKey, vaultKey, auditKey, dataKeys, keySlot
        case provider, providerGone, renewal, renewalOfMany, newLogin, newLoginOfMany, loginGone, loginOfManyGone
        case userErased, userBack, userDisabled, intentClosed, outboxDone, requestTaken, trailPruned, allHeld

        fileprivate func make(_ scene: Scene) async throws {
            let (store, vault) = (scene.store, scene.vault)
            switch self {
            case .indexKey: #expect(try await store.replaceIndexKey { _, _ in }.isComplete)
            case .twoIndexKeys: for _ in 0..<2 { try await Self.indexKey.make(scene) }
            case .rootKey: _ = try await store.rotateRootKey(pause: {}) { _ in }
            case .vaultKey: try await store.rekey(try await store.planRekey(provenBy: []))
            case .auditKey: try await store.replaceAuditKey()
            case .dataKeys: for user in ["alice", "bob", "many"] { try await store.replaceDataKey(ofUser: user) }
            case .keySlot: _ = try await store.addKeySlot(MemoryKey(), label: "second")
            case .provider:
                var record = try await store.provider(scene.provider).record
                record.clientID += "'s"
                _ = try await store.putProvider(record, replacing: scene.provider)
            case .providerGone: try await store.removeProvider(scene.other)
            case .renewal: try await renew(scene.logins[0], store)
            case .renewalOfMany: try await renew(scene.logins[2], store)
            case .newLogin: _ = try await store.insertLogin(vault.draft("alice", provider: scene.provider))
            case .newLoginOfMany: _ = try await store.insertLogin(vault.draft("many", provider: scene.provider))
            case .loginGone: try await store.updateLogin(scene.logins[0]) { $0.isRemoved = true }
            case .loginOfManyGone: try await store.updateLogin(scene.logins[2]) { $0.isRemoved = true }
            case .userErased: try await store.updateUser("bob") { $0.isErased = true }
            case .userBack:
                try await Self.userErased.make(scene)
                _ = try await store.insertLogin(vault.draft("bob", provider: scene.provider))
            case .userDisabled: try await store.updateUser("alice") { $0.status = .disabled }
            case .intentClosed: try await store.updateLogin(scene.logins[1]) { $0.intent = nil }
            case .outboxDone: try await store.resolveOutbox(scene.entry, .done)
            case .requestTaken:
                let proof = CallbackProof(state: SecretBytes(utf8: "state"), binding: .unbound, userId: "alice")
                _ = try await store.takeAuthorizationRequest(proof)
            case .trailPruned: _ = try await store.pruneTrail(TrailLimits(before: nil, keepingLast: 3))
            case .allHeld: try await store.holdAllLogins(AuditEvent(.failureNotified))
            }
        }

        private func renew(_ login: LoginHandle, _ store: any VaultStore) async throws {
            try await store.updateLogin(login) { state in
                state.position.generation += 1
                state.session.accessToken = SecretBytes(utf8: "access \(state.position.generation)")
                state.refresh?.refreshToken = SecretBytes(utf8: "refresh \(state.position.generation)")
            }
        }
    }

    enum Reading: CaseIterable {
        case session, sessionOfLogin, sessionOfMany, login, loginOfMany, logins, loginsOfMany
        case user, users, userId, providersOfUser, provider, providerByName, providers, trail, trailPage, outbox
        case outboxEntry, replies, intents, keySlots, slotsOfKey, depths, statistics, damage, damagedRow, held, moving
        case pendingLogIns, due, untold, verification, witness, rootRotation

        /// What is called damaged though nothing is.
        fileprivate func damage(_ store: any VaultStore, _ scene: Scene) async throws -> [String] {
            do {
                switch self {
                case .session: for user in ["alice", "bob"] { _ = try await store.session(.user(user)) }
                case .sessionOfLogin: for login in scene.logins { _ = try await store.session(.login(login)) }
                case .sessionOfMany: _ = try await store.session(.login(scene.logins[2], ofUsers: "many"))
                case .login: for login in scene.logins.prefix(2) { _ = try await store.login(login) }
                case .loginOfMany: _ = try await store.login(scene.logins[2])
                case .logins:
                    return try await store.logins(ofUser: nil, after: nil, limit: 100).compactMap(\.damage).texts
                case .loginsOfMany:
                    return try await store.logins(ofUser: "many", after: nil, limit: 100).compactMap(\.damage).texts
                case .user: for user in ["alice", "bob", "many"] { _ = try await store.user(user) }
                case .users: return try await store.users(after: nil, limit: 10).compactMap(\.damage).texts
                case .userId: _ = try await store.userId(of: scene.bob)
                case .providersOfUser: _ = try await store.providers(ofUser: "many")
                case .provider: for each in [scene.provider, scene.other] { _ = try await store.provider(each) }
                case .providerByName: for name in ["acme", "other"] { _ = try await store.provider(named: name) }
                case .providers: return try await store.providers().compactMap(\.damage).texts
                case .trail: return try await store.auditEntries(after: 0, limit: 200).compactMap(\.damage).texts
                case .trailPage:
                    var rows: [AuditListing] = []
                    rows += try await store.audit(AuditFilter(), .after(0), limit: 200).rows
                    rows += try await store.audit(AuditFilter(), .before(.max), limit: 20).rows
                    return rows.compactMap(\.entry.damage).texts
                case .outbox: return try await store.outbox(after: nil, limit: 10).compactMap(\.damage).texts
                case .outboxEntry: _ = try await store.outboxEntry(scene.entry)
                case .replies: return try await store.unusableReplies(of: scene.logins[0]).compactMap(\.damage).texts
                case .intents: _ = try await store.openIntents(after: nil, limit: 10)
                case .keySlots: _ = try await store.keySlots()
                case .slotsOfKey: #expect(try await store.keySlots(openedBy: scene.vault.key).count == 1)
                case .depths: _ = try await store.depths()
                case .statistics: _ = try await store.statistics()
                case .damage: return try await store.damagedRows(limit: 10).map { "\($0)" }
                case .damagedRow:
                    let name = DamagedRowName.handle(scene.logins[0].bytes)
                    let error = await #expect(throws: StoreError.self) { try await store.damagedRow(name) }
                    if error != .isWhole(name), error != .notFound(.damagedRow) { return ["\(error as Any)"] }
                case .held: _ = try await store.heldLogins(of: scene.provider, limit: 10)
                case .moving: _ = try await store.movingUsers(after: nil, users: 10, logins: 100)
                case .pendingLogIns: _ = try await store.pendingLogIns(after: nil, limit: 10)
                case .due: _ = try await store.dueLogins(before: scene.vault.now, limit: 10)
                case .untold: _ = try await store.unreportedFailures(limit: 10)
                case .verification: return try await store.verify().findings.map { "\($0)" }
                case .witness: _ = try await store.read { reader throws(StoreError) in try reader.witnessNote() }
                case .rootRotation: _ = try await store.rootRotation()
                }
            } catch let error as StoreError {
                if case .notFound = error.code { return [] }
                if case .ambiguousLogin = error.code { return [] }
                return ["\(error)"]
            }
            return []
        }
    }

    /// As many as there are changes; every query in longer runs.
    private static let step = Depth.pick(brief: 23, nightly: 1, deep: 1)

    @Test(arguments: Change.allCases)
    func whatIsReadIsOfOneMoment(_ change: Change) async throws {
        var interrupted = 0
        // Another place for each change, so that all changes together interrupt each place.
        var number = Change.allCases.firstIndex(of: change) ?? 0
        for knowsLess in [false, true] {
            let scene = try await Scene()
            let database = scene.store.vault.database
            let first = database.current
            if knowsLess {
                for earlier in [Change.indexKey, .rootKey, .auditKey, .provider, .renewal, .renewalOfMany] {
                    try await earlier.make(scene)
                }
            }
            let before = database.current
            try await change.make(scene)
            let after = database.current
            for reading in Reading.allCases {
                number += 1
                var place = number % Self.step
                while true {
                    database.current = first
                    let process = try scene.vault.open()
                    // It knows what it has read before.
                    #expect(try await reading.damage(process, scene) == [])
                    database.current = before
                    database.interrupt(after: place) { database.current = after }
                    let damage = try await reading.damage(process, scene)
                    #expect(damage == [], "\(reading), query \(place), \(knowsLess)")
                    let isDone = database.cancelInterruption()
                    process.close()
                    if isDone { break }
                    interrupted += 1
                    // A check asks hundreds of questions.
                    place += place < 30 ? Self.step : 29
                }
            }
        }
        print("a change between two queries, \(change): \(interrupted) readings")
        #expect(interrupted > 200 / Self.step)
    }
}

extension [StoreError] {
    fileprivate var texts: [String] { map { "\($0)" } }
}
