import Testing
import VaultCrypto

import VaultSQLite
import VaultStorage

struct LoginTests {
    @Test func aLoginComesBackAsItWasInserted() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let provider = try await store.putProvider(.sample(at: fixture.now), replacing: nil)
        let draft = fixture.draft("alice", provider: provider.handle, isBound: true)
        let inserted = try await store.insertLogin(draft)
        #expect(try await store.login(inserted.handle) == inserted)
        #expect(inserted.session == draft.session)
        #expect(inserted.refresh == draft.refresh)
        #expect(inserted.key == draft.key)
        #expect(inserted.userId == "alice")
        #expect(inserted.position == .first)
        let snapshot = try await store.session(.user("alice"))
        #expect(snapshot.login == inserted.handle)
        #expect(snapshot.session == draft.session)
        #expect(snapshot.isRefreshable && snapshot.isDPoPBound && !snapshot.isHeld)
        #expect(try await store.session(.login(inserted.handle)) == snapshot)
        #expect(try await store.session(.login(inserted.handle, ofUsers: "alice")) == snapshot)
        #expect(try await store.verify().findings == [])
    }

    @Test func everythingIsThereAfterReopening() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let login = try await store.insertLogin(fixture.draft("alice"))
        store.close()
        let reopened = try fixture.open()
        #expect(try await reopened.login(login.handle) == login)
        await #expect(throws: StoreError.closed) { try await store.session(.user("alice")) }
        await #expect(throws: StoreError.closed) { try await store.addOutbox([]) }
    }

    @Test func aRenewalChangesWhatTheBodyChangesAndNothingElse() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let login = try await store.insertLogin(fixture.draft("alice", isBound: true))
        let keyCell = try fixture.bytes("SELECT keyCell FROM loginSecret")
        let generation = try await store.updateLogin(login.handle) { state in
            state.position = state.position.successor
            state.session.accessToken = .canary("access-2")
            state.refresh?.refreshToken = .canary("refresh-2")
            state.auditEvents = [AuditEvent(.renewed, [.init("generation", "2")])]
            return state.position.generation
        }
        #expect(generation == 2)
        let stored = try await store.login(login.handle)
        #expect(stored.position == ChainPosition(chain: 1, generation: 2))
        #expect(stored.session.accessToken == .canary("access-2"))
        #expect(stored.refresh?.refreshToken == .canary("refresh-2"))
        #expect(stored.key == login.key)
        #expect(stored.revision == 2)
        #expect(try fixture.bytes("SELECT keyCell FROM loginSecret") == keyCell)
        let audit = try await store.auditEntries(after: 0, limit: 100)
        #expect(audit.map(\.kind) == [.vaultCreated, .loginCreated, .renewed])
        #expect(audit.last?.value("generation") == "2")
        #expect(audit.last?.look?.token == .init(generation: 2, expiresAt: Timestamp(milliseconds: 1_800_003_601_000)))
        #expect(audit.last?.look?.isNew == false)
        await #expect(try store.verify { _ in }.findings == [])
    }

    @Test func aBodyThatThrowsLeavesNothingBehind() async throws {
        struct Refusal: Error, Equatable {}
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let login = try await store.insertLogin(fixture.draft("alice"))
        await #expect(throws: Refusal()) {
            try await store.updateLogin(login.handle) { state in
                state.session.label = "changed"
                throw Refusal()
            }
        }
        #expect(try await store.login(login.handle) == login)
        #expect(try await store.auditEntries(after: 0, limit: 100).count == 2)
    }

    @Test func intentChangesNoLoginAndItsFenceIsUnique() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let login = try await store.insertLogin(fixture.draft("alice"))
        let cell = try fixture.bytes("SELECT cell FROM login")
        var fences: [Int64] = []
        for _ in 0..<3 {
            let intent = try await store.updateLogin(login.handle) { [owner = store.owner, now = fixture.now] state in
                state.auditEvents = [AuditEvent(.renewalStarted)]
                return state.openIntent(owner: owner, at: now)
            }
            fences.append(intent.fence)
            #expect(try await store.login(login.handle).intent == intent)
            try await store.updateLogin(login.handle) { state in
                state.intent?.doubtSince = Timestamp(milliseconds: 7)
                state.intent?.tries = 2
            }
            #expect(try await store.login(login.handle).intent?.isInDoubt == true)
            try await store.updateLogin(login.handle) { state in
                state.intent = nil
                state.auditEvents = [AuditEvent(.renewalFailed)]
            }
            #expect(try await store.login(login.handle).intent == nil)
        }
        #expect(fences == [1, 2, 3])
        #expect(try fixture.bytes("SELECT cell FROM login") == cell)
        #expect(try await store.login(login.handle).revision == 1)
        #expect(try await store.verify().findings == [])
    }

    @Test func severalLoginsAreNotGuessedAmong() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let first = try await store.insertLogin(fixture.draft("alice", "one"))
        let second = try await store.insertLogin(fixture.draft("alice", "two"))
        let error = await #expect(throws: StoreError.self) { try await store.session(.user("alice")) }
        #expect(error?.code == .ambiguousLogin([first.handle, second.handle]))
        #expect(try await store.session(.login(second.handle, ofUsers: "alice")).session == second.session)
        try await store.updateLogin(first.handle) { $0.session.state = .terminated }
        #expect(try await store.session(.user("alice")).login == second.handle)
        try await store.updateLogin(second.handle) { $0.isRemoved = true }
        #expect(try await store.session(.user("alice")).session.state == .terminated)
        await #expect(throws: StoreError.notFound(.login)) { try await store.login(second.handle) }
        await #expect(throws: StoreError.notFound(.user)) { try await store.session(.user("bob")) }
        await #expect(throws: StoreError.notFound(.login)) { try await store.updateLogin(second.handle) { _ in } }
        #expect(try await store.verify().findings == [])
    }

    @Test func anErasedUserLeavesRandomHandlesOnly() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let login = try await store.insertLogin(fixture.draft("alice", isBound: true))
        try await store.updateLogin(login.handle) { [owner = store.owner, now = fixture.now] in
            _ = $0.openIntent(owner: owner, at: now)
        }
        try await store.updateUser("alice") { $0.isErased = true }
        await #expect(throws: StoreError.notFound(.user)) { try await store.user("alice") }
        for table in ["user", "login", "loginSecret", "refreshIntent"] {
            #expect(try fixture.integer("SELECT count(*) FROM \(table)") == 0)
        }
        let audit = try await store.auditEntries(after: 0, limit: 100)
        #expect(audit.last?.kind == .userErased)
        #expect(audit.last?.user == login.user)
        #expect(try await store.verify().findings == [])
        let again = try await store.insertLogin(fixture.draft("alice"))
        #expect(again.user != login.user)
        #expect(try await store.verify().findings == [])
    }

    @Test func aDisabledUserGetsNoNewLogin() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let login = try await store.insertLogin(fixture.draft("alice"))
        try await store.updateUser("alice") { state in
            state.status = .disabled
            state.auditEvents = [AuditEvent(.userDisabled)]
            state.logins[0].session.label = "off"
        }
        #expect(try await store.session(.user("alice")).userStatus == .disabled)
        #expect(try await store.login(login.handle).session.label == "off")
        let error = await #expect(throws: StoreError.self) { try await store.insertLogin(fixture.draft("alice")) }
        #expect(error?.code == .userDisabled)
        #expect(try await store.user("alice").revision == 2)
    }

    @Test func listsGoPageByPage() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        for index in 0..<7 { _ = try await store.insertLogin(fixture.draft("user-\(index % 3)", "\(index)")) }
        var seen: [LoginHandle] = []
        while true {
            let page = try await store.logins(ofUser: nil, after: seen.last, limit: 3)
            if page.isEmpty { break }
            #expect(page.allSatisfy { $0.damage == nil && $0.login?.isRefreshable == true })
            seen += page.map(\.handle)
        }
        #expect(Set(seen).count == 7 && seen.count == 7)
        let own = try await store.logins(ofUser: "user-0", after: nil, limit: 2)
        let rest = try await store.logins(ofUser: "user-0", after: own.last?.handle, limit: 2)
        #expect(Set((own + rest).map(\.handle)) == Set(try await store.user("user-0").logins))
        let users = try await store.users(after: nil, limit: 2)
        let more = try await store.users(after: users.last?.handle, limit: 2)
        #expect(Set((users + more).compactMap(\.user?.id)) == ["user-0", "user-1", "user-2"])
    }

    @Test(arguments: [0, 1025, 1 << 20])
    func aUserIdOutOfBoundsIsRefused(byteCount: Int) async throws {
        let id = String(repeating: "x", count: byteCount)
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let error = await #expect(throws: StoreError.self) { try await store.insertLogin(fixture.draft(id)) }
        #expect(error?.code == .invalidValue)
        await #expect(throws: StoreError.notFound(.user)) { try await store.user(id) }
    }

    @Test func theLongestUserIdFits() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let id = String(repeating: "é", count: 512)
        _ = try await store.insertLogin(fixture.draft(id, "long"))
        #expect(try await store.user(id).id == id)
    }

    @Test(arguments: ["a\nb", "\u{1b}[31m", "naïve", "a\0b", "../../etc/passwd"])
    func aUserIdMayHoldAnyText(id: String) async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        _ = try await store.insertLogin(fixture.draft(id))
        #expect(try await store.user(id).id == id)
    }
}
