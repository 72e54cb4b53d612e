import Testing
import VaultSQLite
import VaultStorage

/// Somebody without a key takes away the note that a refresh token may be spent.
@Suite struct LostIntentTests {
    private func begin(
        _ store: SQLiteVaultStore, _ login: LoginHandle, inDoubt: Bool, at now: Timestamp
    ) async throws {
        try await store.updateLogin(login) { state in
            state.openIntent(owner: inDoubt ? 0 : 7, at: now, doubtSince: inDoubt ? now : nil, tries: 1)
            if inDoubt { state.session.doubtCause = 2 }
            state.auditEvents.append(AuditEvent(inDoubt ? .renewalInDoubt : .renewalStarted))
        }
    }

    @Test func aDoubtThatIsTakenAwayIsSeenAtTheNextLook() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let login = try await store.insertLogin(fixture.draft("alice")).handle
        try await begin(store, login, inDoubt: true, at: fixture.now)
        #expect(try await store.login(login).intent?.isInDoubt == true)
        #expect(try await store.verify().isClean)
        try fixture.edit("DELETE FROM refreshIntent")
        let expected = StoreError.Code.quarantined(table: "refreshIntent", handle: login.text)
        await #expect(throws: StoreError.self) { try await store.login(login) }
        let error = await #expect(throws: StoreError.self) { try await store.updateLogin(login) { _ in } }
        #expect(error?.code == expected)
        #expect(try await store.verify().findings.map(\.place) == ["refreshIntent"])
        // A read of a good token does not ask for it.
        #expect(try await store.session(.user("alice")).session.doubtCause == 2)
    }

    @Test func fullCheckFindsAMissingIntent() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let login = try await store.insertLogin(fixture.draft("alice")).handle
        let other = try await store.insertLogin(fixture.draft("bob")).handle
        for handle in [login, other] { try await begin(store, handle, inDoubt: false, at: fixture.now) }
        #expect(try await store.verify().isClean)
        try fixture.edit("DELETE FROM refreshIntent WHERE login = 1")
        let findings = try await store.verify().findings
        #expect(findings.map(\.place) == ["refreshIntent"])
        #expect(findings.first?.subject == login.text)
    }

    @Test func aRenewalThatHasEndedLacksNothing() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let login = try await store.insertLogin(fixture.draft("alice")).handle
        for kind in [AuditKind.renewed, .renewalFailed, .loginDead] {
            try await begin(store, login, inDoubt: false, at: fixture.now)
            try await store.updateLogin(login) { state in
                state.intent = nil
                state.auditEvents.append(AuditEvent(kind))
            }
            #expect(try await store.verify().isClean)
        }
        try await begin(store, login, inDoubt: false, at: fixture.now)
        try await store.updateLogin(login) { $0.isRemoved = true }
        #expect(try await store.verify().isClean)
    }
}
