import Foundation
import Testing
import VaultCrypto
import VaultSQLite
import VaultStorage

struct JournalTests {
    @Test func anAuthorizationRequestIsTakenOnce() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let provider = try await store.putProvider(.sample(at: fixture.now), replacing: nil)
        let request = AuthorizationRequestRecord.sample("x", provider.handle, at: fixture.now)
        try await store.putAuthorizationRequest(request)
        #expect(try await store.takeAuthorizationRequest(.unbound(request.state)) == request)
        await #expect(throws: StoreError.notFound(.authorizationRequest)) {
            try await store.takeAuthorizationRequest(.unbound(request.state))
        }
    }

    @Test func aRequestKeepsWhatItIsBoundToAndWhatTheAppWantsBack() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let provider = try await store.putProvider(.sample(at: fixture.now), replacing: nil)
        var request = AuthorizationRequestRecord.sample("x", provider.handle, at: fixture.now)
        request.bindingHash = .canary("binding")
        request.context = ["returnTo": "/calendar", "a": ""]
        request.resources = ["https://one.example", "https://two.example"]
        request.idTokenNonce = .canary("nonce")
        request.maximumAge = 300
        try await store.putAuthorizationRequest(request)
        let proof = CallbackProof(
            state: request.state, binding: .browser(.canary("binding")), userId: "user-of-request")
        #expect(try await store.takeAuthorizationRequest(proof) == request)
    }

    @Test func anotherBrowserOrUserNeitherGetsARequestNorEndsIt() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let provider = try await store.putProvider(.sample(at: fixture.now), replacing: nil)
        var request = AuthorizationRequestRecord.sample("x", provider.handle, at: fixture.now)
        request.bindingHash = .canary("binding")
        try await store.putAuthorizationRequest(request)
        let strangers = [
            CallbackProof(state: request.state, binding: .browser(.canary("bindinG"))),
            CallbackProof(state: request.state, binding: .browser(SecretBytes(copying: []))),
            CallbackProof(state: request.state, binding: .browser(.canary("binding")), userId: "somebody-else"),
            CallbackProof(state: request.state, binding: .unbound, userId: "somebody-else"),
        ]
        for stranger in strangers {
            do {
                _ = try await store.takeAuthorizationRequest(stranger)
                Issue.record("a stranger got the request")
            } catch {
                #expect((error as? StoreError)?.code == .logInNotBound)
            }
        }
        let own = CallbackProof(state: request.state, binding: .browser(.canary("binding")))
        #expect(try await store.takeAuthorizationRequest(own) == request)
    }

    @Test func requestFromBeforeBindingsIsBoundToNoBrowser() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let provider = try await store.putProvider(.sample(at: fixture.now), replacing: nil)
        let request = AuthorizationRequestRecord.sample("x", provider.handle, at: fixture.now)
        try await store.putAuthorizationRequest(request)
        do {
            _ = try await store.takeAuthorizationRequest(
                CallbackProof(state: request.state, binding: .browser(SecretBytes(copying: []))))
            Issue.record("a request without a binding was taken as bound")
        } catch {
            #expect((error as? StoreError)?.code == .logInNotBound)
        }
        #expect(try await store.takeAuthorizationRequest(.unbound(request.state)) == request)
    }

    @Test func anExpiredRequestIsGoneAndTakesNothingWithIt() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let provider = try await store.putProvider(.sample(at: fixture.now), replacing: nil)
        let old = AuthorizationRequestRecord.sample("old", provider.handle, at: fixture.now)
        try await store.putAuthorizationRequest(old)
        fixture.advance(by: .seconds(601))
        let new = AuthorizationRequestRecord.sample("new", provider.handle, at: fixture.now)
        try await store.putAuthorizationRequest(new)
        await #expect(throws: StoreError.notFound(.authorizationRequest)) {
            try await store.takeAuthorizationRequest(.unbound(old.state))
        }
        #expect(try await store.statistics().authorizationRequests == 1)
        #expect(try await store.takeAuthorizationRequest(.unbound(new.state)) == new)
    }

    @Test func aRevocationStaysUntilItIsConfirmed() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let provider = try await store.putProvider(.sample(at: fixture.now), replacing: nil)
        let record = OutboxRecord(
            provider: provider.handle, login: nil, user: nil, refreshToken: .canary("late"), accessToken: nil,
            dpopPrivateKey: .canary("key"), nonces: ["https://as": "n"], createdAt: fixture.now)
        try await store.addOutbox([record])
        let entry = try #require(try await store.outboxEntries(limit: 10).first)
        #expect(entry.record == record && entry.attempts == 0)
        let later = fixture.now.advanced(by: .seconds(60))
        try await store.resolveOutbox(entry.handle, .retry(at: later))
        let again = try await store.outboxEntry(entry.handle)
        #expect(again.nextAttemptAt == later && again.attempts == 1 && again.record == record)
        try await store.resolveOutbox(entry.handle, .done)
        #expect(try await store.outboxEntries(limit: 10).isEmpty)
        await #expect(throws: StoreError.notFound(.outboxEntry)) {
            try await store.resolveOutbox(entry.handle, .done)
        }
        #expect(try await store.verify().findings == [])
    }

    @Test func aDamagedRevocationHidesNoOther() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let provider = try await store.putProvider(.sample(at: fixture.now), replacing: nil)
        let records = (0..<3).map { _ in
            OutboxRecord(
                provider: provider.handle, login: nil, user: nil, refreshToken: .canary("late"), accessToken: nil,
                createdAt: fixture.now)
        }
        try await store.addOutbox(records)
        try fixture.edit("UPDATE outbox SET attempts = 7 WHERE id = 2")
        let listings = try await store.outbox(after: nil, limit: 10)
        #expect(listings.map(\.handle) == records.map(\.handle))
        #expect(listings.filter { $0.entry == nil && $0.damage != nil }.map(\.handle) == [records[1].handle])
        await #expect(throws: StoreError.self) { try await store.outboxEntries(limit: 10) }
        #expect(try await store.outbox(after: listings[0].sequence, limit: 10) == Array(listings.dropFirst()))
        #expect(try await store.dueOutboxEntries(at: fixture.now, limit: 10).count == 2)
        #expect(try await store.dueOutboxEntries(at: fixture.now.advanced(by: .seconds(-1)), limit: 10).isEmpty)
    }

    @Test func providersHaveUniqueNamesAndStayWhileTheyAreUsed() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let acme = try await store.putProvider(.sample(at: fixture.now), replacing: nil)
        #expect(try await store.provider(named: "acme") == acme)
        let taken = await #expect(throws: StoreError.self) {
            try await store.putProvider(.sample(at: fixture.now), replacing: nil)
        }
        #expect(taken?.code == .conflict)
        var changed = acme.record
        changed.tokenEndpoint = "https://new.example/token"
        let updated = try await store.putProvider(changed, replacing: acme.handle)
        #expect(updated.revision == 2 && updated.handle == acme.handle)
        #expect(try await store.provider(acme.handle).record == changed)
        let told = try #require(try await store.auditEntries(after: 0, limit: 10).last)
        #expect(told.detail.contains(.init("previousTokenEndpoint", "https://as.example/token")))
        let login = try await store.insertLogin(fixture.draft("alice", provider: acme.handle))
        let used = await #expect(throws: StoreError.self) { try await store.removeProvider(acme.handle) }
        #expect(used?.code == .providerInUse)
        try await store.updateLogin(login.handle) { $0.isRemoved = true }
        try await store.removeProvider(acme.handle)
        await #expect(throws: StoreError.notFound(.provider)) { try await store.provider(acme.handle) }
        await #expect(throws: StoreError.notFound(.provider)) {
            try await store.insertLogin(fixture.draft("alice", provider: acme.handle))
        }
        #expect(try await store.verify().findings == [])
    }

    @Test func keySlotsOpenTheSameVaultAndTheLastOneStays() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        _ = try await store.insertLogin(fixture.draft("alice"))
        let passphrase = try PassphraseUnlocker(SecretBytes(utf8: "correct horse"), cost: .minimum)
        let added = try await store.addKeySlot(passphrase, label: "second")
        let slots = try await store.keySlots()
        #expect(slots.map(\.description.label) == ["test", "second"])
        let byPassphrase = try SQLiteVaultStore.open(at: fixture.path, unlocker: passphrase, clock: fixture.clock)
        await #expect(try byPassphrase.session(.user("alice")) == store.session(.user("alice")))
        let wrong = try PassphraseUnlocker(SecretBytes(utf8: "wrong horse"), cost: .minimum)
        let refusal = #expect(throws: StoreError.self) {
            try SQLiteVaultStore.open(at: fixture.path, unlocker: wrong, clock: fixture.clock)
        }
        #expect(refusal?.code == .wrongKey)
        let unproven = await #expect(throws: StoreError.self) { try await store.removeKeySlot(slots[0].handle) }
        #expect(unproven?.code == .keySlotNotProven)
        try await store.removeKeySlot(slots[0].handle, provenBy: passphrase)
        let removed = #expect(throws: StoreError.self) { try fixture.open() }
        #expect(removed?.code == .wrongKey)
        let last = await #expect(throws: StoreError.self) { try await store.removeKeySlot(added.handle) }
        #expect(last?.code == .lastKeySlot)
        #expect(try await store.verify().findings == [])
    }

    @Test func statisticsCount() async throws {
        let vault = try await PopulatedVault()
        let found = try await vault.fixture.open().statistics()
        #expect(found.users == 3 && found.logins == 6 && found.providers == 2 && found.openIntents == 3)
        #expect(found.pendingRevocations == 3 && found.authorizationRequests == 3 && found.keySlots == 1)
        if found.engine.version == "3.40.1" { #expect(found.engine.canLoseCommits) }
    }
}
