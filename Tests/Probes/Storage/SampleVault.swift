import Foundation
import VaultCrypto
import VaultSQLite
import VaultStorage

/// `storage-probe sample DIRECTORY`: a small vault with something of everything that an upgrade must carry over, made by
/// the program of the day and kept in `Tests/Vaults`. See `scripts/sample-vault`.
///
/// Every secret in it is a marker. The process ends with an intent open and with replies in its spool, as a killed one does.
struct SampleVault {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)
    private let store: SQLiteVaultStore

    static func make(in directory: String) async throws {
        _ = try KeyFile.create(at: directory + "/vault.key")
        let store = try SQLiteVaultStore.create(
            at: directory + "/vault.db", firstSlot: KeyFileUnlocker(path: directory + "/vault.key"),
            label: "key file", clock: { now })
        try await SampleVault(store: store).fill()
        store.close()
        say("schema \(SQLiteVaultStore.schemaVersion)")
    }

    private func fill() async throws {
        _ = try await store.addKeySlot(
            PassphraseUnlocker(SecretBytes(utf8: "CANARY-passphrase"), cost: .minimum), label: "passphrase")
        let acme = try await store.putProvider(Self.provider("acme"), replacing: nil).handle
        let globex = try await store.putProvider(Self.provider("globex"), replacing: nil).handle
        try await addLiving(acme, globex)
        try await addEnded(acme)
        try await addUnsettled(acme)
        try await addMany()
        // From schema version 9 on, at a row of the trail that is there. The process has ended.
        _ = try await store.claimObserver("mailer", start: "3", head: "3")
        try await store.putAuthorizationRequest(
            AuthorizationRequestRecord(
                state: SecretBytes(utf8: "CANARY-state"), codeVerifier: SecretBytes(utf8: "CANARY-verifier"),
                provider: acme, userId: "heidi", redirectURI: "https://app.example/callback", scope: "read write",
                createdAt: Self.now, expiresAt: Self.now.advanced(by: .seconds(600))))
        try await store.addOutbox([
            OutboxRecord(
                provider: acme, login: nil, user: nil, refreshToken: SecretBytes(utf8: "CANARY-refresh-orphan"),
                accessToken: SecretBytes(utf8: "CANARY-access-orphan"), createdAt: Self.now)
        ])
    }

    /// A good login, one bound to a DPoP key, one without a provider, and a user with two.
    private func addLiving(_ acme: ProviderHandle, _ globex: ProviderHandle) async throws {
        _ = try await store.insertLogin(Self.draft("alice", acme))
        var bound = Self.draft("carol", globex)
        bound.session.tokenType = "DPoP"
        bound.key = KeyRecord(
            dpopPrivateKey: SecretBytes(copying: Array(1...32)), nonces: ["https://globex.example": "CANARY-nonce"])
        _ = try await store.insertLogin(bound)
        var plain = Self.draft("mallory", nil)
        plain.refresh = nil
        _ = try await store.insertLogin(plain)
        for name in ["ivan", "ivan-second"] {
            var draft = Self.draft(name, acme)
            draft.userId = "ivan"
            _ = try await store.insertLogin(draft)
        }
    }

    /// A user with so many logins that their manifest lies in parts; from schema version 8 on.
    private func addMany() async throws {
        for number in 0..<66 {
            var draft = Self.draft("robot-\(number)", nil)
            draft.userId = "robot"
            draft.refresh = nil
            draft.dueAt = nil
            _ = try await store.insertLogin(draft)
        }
    }

    /// A dead login, and a disabled user.
    private func addEnded(_ acme: ProviderHandle) async throws {
        let dead = try await store.insertLogin(Self.draft("erin", acme))
        try await store.updateLogin(dead.handle) { state in
            state.session.failure = FailureRecord(reason: 1, at: Self.now)
            state.session.state = .tokenExpired
            state.refresh = nil
            state.dueAt = nil
            state.auditEvents = [AuditEvent(.loginDead, [.init("reason", "deadGrant")])]
        }
        _ = try await store.insertLogin(Self.draft("dave", acme))
        try await store.updateUser("dave") { state in
            state.status = .disabled
            for index in state.logins.indices {
                state.logins[index].session.state = .terminated
                state.logins[index].session.terminationReason = 1
                state.logins[index].refresh = nil
                state.logins[index].dueAt = nil
            }
            state.auditEvents = [AuditEvent(.userDisabled)]
        }
    }

    /// A login in doubt with a reply that nobody could use, one whose owner has ended, and replies in the spool.
    private func addUnsettled(_ acme: ProviderHandle) async throws {
        let doubtful = try await store.insertLogin(Self.draft("frank", acme))
        let position = doubtful.position
        let fence = try await store.updateLogin(doubtful.handle) { state in
            state.session.doubtCause = 2
            state.auditEvents = [AuditEvent(.renewalStarted), AuditEvent(.renewalInDoubt)]
            return state.openIntent(owner: 0, at: Self.now, doubtSince: Self.now, tries: 1).fence
        }
        try await store.keepUnusableReply(
            UnusableReplyRecord(
                login: doubtful.handle, position: position, fence: fence, receivedAt: Self.now, status: 200,
                contentType: "application/json", cause: "cut short", isComplete: false,
                body: Array("{\"refresh_token\":\"CANARY-refresh-unusable".utf8)))
        _ = try await openIntent("grace", acme)
        let spooled = try await openIntent("bob", acme)
        try store.spool.prepare()
        _ = try store.spool.add(Self.reply("bob", spooled.login, acme, spooled.fence))
        let gone = try await openIntent("judy", acme)
        _ = try store.spool.add(Self.reply("judy", gone.login, acme, gone.fence))
        try await store.updateUser("judy") { $0.isErased = true }
    }

    /// A renewal that this process has begun, and will not finish.
    private func openIntent(
        _ user: String, _ provider: ProviderHandle
    ) async throws -> (login: StoredLogin, fence: Int64) {
        let login = try await store.insertLogin(Self.draft(user, provider))
        let owner = store.owner
        let fence = try await store.updateLogin(login.handle) { state in
            state.auditEvents = [AuditEvent(.renewalStarted, [.init("generation", "1")])]
            return state.openIntent(owner: owner, at: Self.now, tries: 1).fence
        }
        return (login, fence)
    }

    private static func provider(_ name: String) -> ProviderRecord {
        var record = ProviderRecord(
            name: name, issuer: "https://\(name).example", tokenEndpoint: "https://\(name).example/token",
            clientID: "client-1", clientAuthentication: "client_secret_basic", profileName: "generic",
            createdAt: now)
        record.authorizationEndpoint = "https://\(name).example/authorize"
        record.revocationEndpoint = "https://\(name).example/revoke"
        record.redirectURI = "https://app.example/callback"
        record.defaultScope = "read write"
        record.clientSecrets = [SecretBytes(utf8: "CANARY-client-secret-\(name)")]
        return record
    }

    private static func draft(_ name: String, _ provider: ProviderHandle?) -> LoginDraft {
        var session = SessionRecord(
            state: .established, accessToken: SecretBytes(utf8: "CANARY-access-\(name)"), scope: "read write",
            createdAt: now, obtainedAt: now, expiresAt: now.advanced(by: .seconds(3600)))
        session.label = "label of \(name)"
        session.grantedScope = "read write"
        return LoginDraft(
            userId: name, provider: provider, session: session,
            refresh: RefreshRecord(refreshToken: SecretBytes(utf8: "CANARY-refresh-\(name)")),
            dueAt: now.advanced(by: .seconds(3000)))
    }

    private static func reply(
        _ name: String, _ login: StoredLogin, _ provider: ProviderHandle, _ fence: Int64
    ) -> SpooledReply {
        SpooledReply(
            login: login.handle, user: login.user, provider: provider, position: login.position, fence: fence,
            accessToken: SecretBytes(utf8: "CANARY-access-\(name)-2"), tokenType: "Bearer", scope: "read write",
            obtainedAt: now, expiresAt: now.advanced(by: .seconds(3600)),
            refreshToken: SecretBytes(utf8: "CANARY-refresh-\(name)-2"))
    }
}
