import Synchronization
import Testing
import TokenVaultTesting
import VaultCrypto
import VaultStorage

/// Every operation of a store, on each engine.
@Suite struct StoreConformanceTests {
    // MARK: Logins

    @Test(arguments: TestedPlace.allCases) func aLoginIsMadeReadChangedAndRemoved(_ place: TestedPlace) async throws {
        let vault = try place.make()
        let store = vault.store
        let made = try await store.insertLogin(vault.draft("alice"))
        #expect(made.position == .first && made.revision == 1 && !made.isHeld)
        #expect(try await store.login(made.handle) == made)
        for selector in [LoginSelector.user("alice"), .login(made.handle), .login(made.handle, ofUsers: "ali")] {
            #expect(try await store.session(selector).session == made.session)
        }
        let generation = try await store.updateLogin(made.handle) { state in
            state.position.generation += 1
            state.session.accessToken = SecretBytes(utf8: "second")
            return state.position.generation
        }
        let changed = try await store.login(made.handle)
        #expect(changed.position.generation == generation && changed.revision == 2)
        #expect(changed.session.accessToken == SecretBytes(utf8: "second") && changed.refresh == made.refresh)
        try await store.updateLogin(made.handle) { $0.isRemoved = true }
        await Self.expect(.notFound(.login)) { _ = try await store.login(made.handle) }
        await Self.expect(.notFound(.login)) { _ = try await store.session(.user("alice")) }
        #expect(try await store.verify().findings == [])
    }

    @Test(arguments: TestedPlace.allCases) func whatABodyThrowsUndoesItsChange(_ place: TestedPlace) async throws {
        struct Refusal: Error {}
        let vault = try place.make()
        let store = vault.store
        let made = try await store.insertLogin(vault.draft("alice"))
        let head = try await store.auditHead()
        await #expect(throws: Refusal.self) {
            try await store.updateLogin(made.handle) { state in
                state.session.label = "never"
                state.outbox = [vault.revocation("never", at: .random())]
                throw Refusal()
            }
        }
        #expect(try await store.login(made.handle) == made)
        let untouched = try await store.auditHead() == head
        #expect(untouched)
        #expect(try await store.outbox(after: nil, limit: 10).isEmpty)
    }

    @Test(arguments: TestedPlace.allCases) func severalLoginsOfAUserAreToldApart(_ place: TestedPlace) async throws {
        let vault = try place.make()
        let store = vault.store
        let first = try await store.insertLogin(vault.draft("alice")).handle
        let second = try await store.insertLogin(vault.draft("alice")).handle
        let other = try await store.insertLogin(vault.draft("bob")).handle
        await Self.expect(.ambiguousLogin([first, second])) { _ = try await store.session(.user("alice")) }
        await Self.expect(.notFound(.login)) { _ = try await store.session(.login(other, ofUsers: "alice")) }
        await Self.expect(.notFound(.login)) {
            try await store.changeLogin(.login(other, ofUsers: "alice")) { $0.session.state = .terminated }
        }
        #expect(try await store.session(.login(other)).session.state != .terminated)
        #expect(try await store.user("alice").logins == [first, second])
        let listed = try await store.logins(ofUser: "alice", after: nil, limit: 10).map(\.handle)
        #expect(listed.count == 2 && Set(listed) == [first, second])
        try await store.updateLogin(first) { $0.session.state = .terminated }
        #expect(try await store.session(.user("alice")).login == second)
    }

    @Test(arguments: TestedPlace.allCases) func listsComeInPages(_ place: TestedPlace) async throws {
        let vault = try place.make()
        let store = vault.store
        var made: Set<LoginHandle> = []
        for number in 0..<7 { made.insert(try await store.insertLogin(vault.draft("user \(number)")).handle) }
        var (found, after) = ([LoginHandle](), nil as LoginHandle?)
        while true {
            let page = try await store.logins(ofUser: nil, after: after, limit: 3)
            found += page.map(\.handle)
            guard page.count == 3 else { break }
            after = page.last?.handle
        }
        #expect(found.count == 7 && Set(found) == made)
        let users = try await store.users(after: nil, limit: 5)
        let rest = try await store.users(after: users.last?.handle, limit: 5)
        #expect(Set((users + rest).compactMap { $0.user?.id }) == Set((0..<7).map { "user \($0)" }))
    }

    @Test(arguments: TestedPlace.allCases) func whatIsDueComesFirst(_ place: TestedPlace) async throws {
        let vault = try place.make()
        let store = vault.store
        var due: [LoginHandle] = []
        for seconds in [30, 10, 20, 90] {
            due.append(
                try await store.insertLogin(vault.draft("\(seconds)", dueIn: .seconds(seconds))).handle)
        }
        _ = try await store.insertLogin(vault.draft("never"))
        let now = vault.now.advanced(by: .seconds(60))
        let first = try await store.dueLogins(before: now, limit: 2)
        #expect(first.logins.map(\.login) == [due[1], due[2]])
        let second = try await store.dueLogins(before: now, after: first.cursor, limit: 2)
        #expect(second.logins.map(\.login) == [due[0]] && second.cursor == nil)
        #expect(second.nextDueAt == vault.now.advanced(by: .seconds(90)))
    }

    // MARK: Users

    @Test(arguments: TestedPlace.allCases) func aUserIsDisabledEnabledAndErased(_ place: TestedPlace) async throws {
        let vault = try place.make()
        let store = vault.store
        let login = try await store.insertLogin(vault.draft("alice")).handle
        try await store.updateUser("alice") { $0.status = .disabled }
        #expect(try await store.login(login).userStatus == .disabled)
        await Self.expect(.userDisabled) { _ = try await store.insertLogin(vault.draft("alice")) }
        try await store.updateUser("alice") { $0.status = .active }
        let handle = try await store.user("alice").handle
        #expect(try await store.userId(of: handle) == "alice")
        try await store.updateUser("alice") { $0.isErased = true }
        await Self.expect(.notFound(.user)) { _ = try await store.user("alice") }
        await Self.expect(.notFound(.login)) { _ = try await store.login(login) }
        await Self.expect(.notFound(.user)) { try await store.updateUser("alice") { _ in } }
        if place == .server {
            guard case .kept = await store.removeRemnants() else {
                throw StoreError(.damaged, "a server forgets nothing")
            }
        } else {
            #expect(await store.removeRemnants() == .gone)
        }
        #expect(try await store.verify().findings == [])
    }

    // MARK: Providers

    @Test(arguments: TestedPlace.allCases) func providersHaveOneNameEach(_ place: TestedPlace) async throws {
        let vault = try place.make()
        let store = vault.store
        let one = try await store.putProvider(vault.provider("one"), replacing: nil)
        let two = try await store.putProvider(vault.provider("two"), replacing: nil)
        await Self.expect(.conflict) { _ = try await store.putProvider(vault.provider("two"), replacing: nil) }
        #expect(try await store.provider(named: "two") == two)
        #expect(try await store.provider(one.handle) == one)
        #expect(try await store.providers().compactMap(\.handle) == [one.handle, two.handle])
        let changed = try await store.updateProvider(one.handle) { record, use in
            #expect(use.refreshableLogins == 0)
            record.clientID = "another"
            return []
        }
        #expect(changed.revision == one.revision + 1 && changed.record.clientID == "another")
        let same = try await store.updateProvider(one.handle) { _, _ in [] }
        #expect(same.revision == changed.revision)
        let login = try await store.insertLogin(vault.draft("alice", provider: one.handle)).handle
        #expect(try await store.providers(ofUser: "alice") == [one.handle])
        await Self.expect(.providerInUse) { try await store.removeProvider(one.handle) }
        try await store.updateLogin(login) { $0.isRemoved = true }
        try await store.removeProvider(one.handle)
        await Self.expect(.notFound(.provider)) { _ = try await store.provider(named: "one") }
        #expect(try await store.verify().findings == [])
    }

    // MARK: Journals

    @Test(arguments: TestedPlace.allCases) func aLogInIsTakenOnce(_ place: TestedPlace) async throws {
        let vault = try place.make()
        let store = vault.store
        let provider = try await store.putProvider(vault.provider("one"), replacing: nil).handle
        let request = vault.request("state", for: provider)
        try await store.putAuthorizationRequest(request)
        try await store.putAuthorizationRequest(vault.request("late", for: provider, lasting: .seconds(1)))
        let proof = CallbackProof(state: SecretBytes(utf8: "state"), binding: .unbound)
        #expect(try await store.takeAuthorizationRequest(proof) == request)
        await Self.expect(.notFound(.authorizationRequest)) { _ = try await store.takeAuthorizationRequest(proof) }
        vault.advance(by: .seconds(2))
        let late = CallbackProof(state: SecretBytes(utf8: "late"), binding: .unbound)
        await Self.expect(.notFound(.authorizationRequest)) { _ = try await store.takeAuthorizationRequest(late) }
        #expect(try await store.statistics().authorizationRequests == 0)
    }

    @Test(arguments: TestedPlace.allCases) func aRevocationIsTriedAgainUntilItIsDone(_ place: TestedPlace) async throws
    {
        let vault = try place.make()
        let store = vault.store
        let provider = try await store.putProvider(vault.provider("one"), replacing: nil).handle
        let records = ["a", "b", "c"].map { vault.revocation($0, at: provider) }
        try await store.addOutbox(records)
        #expect(try await store.outbox(after: nil, limit: 10).map(\.handle) == records.map(\.handle))
        #expect(try await store.dueOutboxEntries(at: vault.now, limit: 2).map(\.handle) == records[..<2].map(\.handle))
        let later = vault.now.advanced(by: .seconds(60))
        try await store.resolveOutbox(records[0].handle, .retry(at: later, nonces: ["https://as.example": "nonce"]))
        let entry = try await store.outboxEntry(records[0].handle)
        #expect(entry.attempts == 1 && entry.nextAttemptAt == later)
        #expect(entry.record.nonces == ["https://as.example": "nonce"])
        #expect(try await store.dueOutboxEntries(at: vault.now, limit: 10).map(\.handle) == records[1...].map(\.handle))
        for record in records { try await store.resolveOutbox(record.handle, .done) }
        await Self.expect(.notFound(.outboxEntry)) { try await store.resolveOutbox(records[0].handle, .done) }
        #expect(try await store.depths().outbox == 0)
    }

    @Test(arguments: TestedPlace.allCases) func anUnusableReplyIsKeptForItsChain(_ place: TestedPlace) async throws {
        let vault = try place.make()
        let store = vault.store
        let login = try await store.insertLogin(vault.draft("alice"))
        let reply = UnusableReplyRecord(
            login: login.handle, position: login.position, fence: 1, receivedAt: vault.now, status: 200,
            contentType: "text/html", cause: "test", isComplete: true, body: Array("body".utf8))
        try await store.keepUnusableReply(reply)
        #expect(
            try await store.unusableReplies(of: login.handle).compactMap(\.record?.body) == [SecretBytes(utf8: "body")])
        try await store.forgetUnusableReplies(before: vault.now)
        #expect(try await store.unusableReplies(of: login.handle).count == 1)
        try await store.forgetUnusableReplies(before: vault.now.advanced(by: .seconds(1)))
        #expect(try await store.unusableReplies(of: login.handle).isEmpty)
    }

    @Test(arguments: TestedPlace.allCases) func anIntentTellsWhetherItsOwnerLives(_ place: TestedPlace) async throws {
        let vault = try place.make()
        let store = vault.store
        let other = try vault.open()
        let (owner, now) = (other.owner, vault.now)
        #expect(owner != store.owner && other.ownsItsLock)
        let login = try await store.insertLogin(vault.draft("alice")).handle
        let fence = try await other.updateLogin(login) { $0.openIntent(owner: owner, at: now).fence }
        #expect(try await store.login(login).intent?.ownerLives == true)
        #expect(try await store.updateLogin(login) { $0.intent?.ownerLives } == true)
        #expect(try await store.hasOpenIntents())
        let page = try await store.openIntents(after: nil, limit: 10)
        #expect(page.intents.map(\.record.fence) == [fence] && page.next == nil)
        #expect(try await store.depths().openIntents == 1)
        other.close()
        #expect(try await store.login(login).intent?.ownerLives == false)
        #expect(try await store.openIntents(after: nil, limit: 10).intents.first?.record.ownerLives == false)
        // No fence is used twice.
        try await store.updateLogin(login) { $0.intent = nil }
        let mine = store.owner
        let next = try await store.updateLogin(login) { $0.openIntent(owner: mine, at: now).fence }
        #expect(next > fence)
    }

    @Test(arguments: TestedPlace.allCases) func theTrailTellsWhatWasDone(_ place: TestedPlace) async throws {
        let vault = try place.make()
        let store = vault.store
        let start = try await store.auditHead()
        let provider = try await store.putProvider(vault.provider("one"), replacing: nil).handle
        let login = try await store.insertLogin(vault.draft("alice", provider: provider)).handle
        try await store.updateLogin(login) { $0.auditEvents = [AuditEvent(.tokenRevealed)] }
        let entries = try await store.auditEntries(after: start, limit: 100)
        #expect(entries.map(\.sequence) == Array((start + 1)...(start + Int64(entries.count))))
        #expect(entries.contains { $0.kind == .loginCreated && $0.login == login })
        #expect(entries.last?.kind == .tokenRevealed && entries.last?.login == login)
        #expect(entries.allSatisfy { $0.damage == nil && $0.time == vault.now })
        #expect(try await store.auditEntries(after: start, limit: 1).count == 1)
        #expect(try await store.lastRenewal(at: provider, otherThan: login, since: .init(milliseconds: 0)) == nil)
    }

    // MARK: Keys

    @Test(arguments: TestedPlace.allCases) func aSecondKeyOpensTheVaultUntilItIsRemoved(_ place: TestedPlace)
        async throws
    {
        let vault = try place.make()
        let store = vault.store
        let spare = try MemoryKey()
        let slot = try await store.addKeySlot(spare, label: "spare")
        #expect(try await store.keySlots().map(\.description.label).contains("spare"))
        try vault.open(with: spare).close()
        let first = store.openingKeySlot
        await Self.expect(.keySlotNotProven) { try await store.removeKeySlot(first) }
        try await store.removeKeySlot(slot.handle)
        await Self.expect(.wrongKey) { try vault.open(with: spare).close() }
        await Self.expect(.lastKeySlot) { try await store.removeKeySlot(first) }
        #expect(try await store.verify().findings == [])
    }

    // MARK: Processes

    @Test(arguments: TestedPlace.allCases) func aReplyBesideTheVaultOutlivesItsProcess(_ place: TestedPlace)
        async throws
    {
        let vault = try place.make()
        let store = vault.store
        let other = try vault.open()
        let login = try await store.insertLogin(vault.draft("alice"))
        try other.spool.prepare(for: 1)
        let reply = vault.reply(to: login)
        let handle = try other.spool.add(reply)
        #expect(try other.spool.listings().compactMap(\.reply) == [reply])
        #expect(try store.spool.listings().isEmpty)
        #expect(try store.spool.depth().entries == 1)
        other.close()
        #expect(try store.spool.listings().map(\.handle) == [handle])
        try store.spool.remove(handle)
        try store.spool.remove(handle)
        #expect(try store.spool.listings().isEmpty)
        #expect(try store.spool.depth().entries == 0)
    }

    @Test(arguments: TestedPlace.allCases) func whatOneProcessCommitsAnotherReads(_ place: TestedPlace) async throws {
        let vault = try place.make()
        let (store, other) = (vault.store, try vault.open())
        let fired = Atomic<Int>(0)
        let token = store.changes.observe { _ in fired.add(1, ordering: .relaxed) }
        let login = try await store.insertLogin(vault.draft("alice")).handle
        #expect(fired.load(ordering: .relaxed) == 1)
        store.changes.cancel(token)
        for number in 0..<20 {
            let writer = number % 2 == 0 ? store : other
            try await writer.updateLogin(login) { $0.session.attempts += 1 }
            let reader = number % 2 == 0 ? other : store
            #expect(try await reader.login(login).session.attempts == number + 1)
        }
        #expect(fired.load(ordering: .relaxed) == 1)
        other.close()
        #expect(try await store.verify().findings == [])
    }

    /// Who waits for what is due next need not look because of a change that comes later.
    @Test(arguments: TestedPlace.allCases)
    func aChangeOfALoginSaysFromWhenItIsDue(_ place: TestedPlace) async throws {
        let vault = try place.make()
        let store = vault.store
        let told = Mutex<[Timestamp]>([])
        let token = store.changes.observe { dueFrom in told.withLock { $0.append(dueFrom) } }
        let login = try await store.insertLogin(vault.draft("alice")).handle
        let (soon, later) = (Timestamp(milliseconds: 5_000), Timestamp(milliseconds: 90_000))
        for due in [soon, nil, later] { try await store.updateLogin(login) { $0.dueAt = due } }
        try await store.updateLogin(login) { $0.session.attempts += 1 }
        _ = try await store.updateEach([login]) { $0.dueAt = nil }
        try await store.updateLogin(login) { $0.isRemoved = true }
        store.changes.cancel(token)
        #expect(told.withLock { $0 } == [.earliest, soon, .latest, later, later, .earliest, .latest])
    }

    @Test(arguments: TestedPlace.allCases) func manyWritersAtOnceLoseNothing(_ place: TestedPlace) async throws {
        let vault = try place.make()
        let stores = [vault.store, try vault.open()]
        let login = try await stores[0].insertLogin(vault.draft("alice")).handle
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask { try await stores[number % 2].updateLogin(login) { $0.session.attempts += 1 } }
            }
            try await group.waitForAll()
        }
        #expect(try await stores[0].login(login).session.attempts == 100)
        stores[1].close()
        #expect(try await stores[0].verify().findings == [])
    }

    @Test(arguments: TestedPlace.allCases) func theFiguresAreThoseOfTheRows(_ place: TestedPlace) async throws {
        let vault = try place.make()
        let store = vault.store
        let provider = try await store.putProvider(vault.provider("one"), replacing: nil).handle
        for user in ["alice", "bob", "alice"] { _ = try await store.insertLogin(vault.draft(user, provider: provider)) }
        try await store.addOutbox([vault.revocation("late", at: provider)])
        let figures = try await store.statistics()
        #expect(figures.users == 2 && figures.logins == 3 && figures.providers == 1 && figures.keySlots == 1)
        #expect(figures.pendingRevocations == 1 && figures.openIntents == 0)
        #expect(figures.auditRows == Int(try await store.auditHead()))
        #expect(try await store.damagedRows(limit: 10).isEmpty)
        #expect(try await store.unreportedFailures(limit: 10).isEmpty)
        let report = try await store.verify()
        #expect(report.users == 2 && report.logins == 3 && report.providers == 1 && report.isClean)
    }

    @Test(arguments: TestedPlace.allCases) func aClosedStoreRefusesEverything(_ place: TestedPlace) async throws {
        let vault = try place.make()
        let store = vault.store
        let login = try await store.insertLogin(vault.draft("alice")).handle
        await store.shutDown()
        await Self.expect(.closed) { _ = try await store.login(login) }
        await Self.expect(.closed) { _ = try await store.statistics() }
        await Self.expect(.closed) { try await store.updateLogin(login) { _ in } }
        #expect(!store.ownsItsLock)
        store.close()
        let again = try vault.open()
        #expect(try await again.login(login).handle == login)
        again.close()
    }

    private static func expect(
        _ code: StoreError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
    ) async {
        do {
            try await body()
            Issue.record("it went well", sourceLocation: sourceLocation)
        } catch {
            #expect((error as? StoreError)?.code == code, "\(error)", sourceLocation: sourceLocation)
        }
    }
}
