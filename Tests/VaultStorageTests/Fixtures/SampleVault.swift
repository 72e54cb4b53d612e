import VaultCrypto
import VaultStorage

/// What lies in a small vault with something in every table.
///
/// Everything that must not show is marked with `CANARY`.
enum SampleVault {
    static let manyLogins = ["CANARY-user-alice", "CANARY-user-bob", "CANARY-user-carol"]
    static let oneLogin = "CANARY-user-dave"
    static let userIds = manyLogins + [oneLogin]
    static let providerNames = ["CANARY-acme", "CANARY-globex"]
    static let requestStates = [SecretBytes(utf8: "CANARY-state-0"), SecretBytes(utf8: "CANARY-state-1")]

    static func note(_ number: Int, _ store: any VaultStore) async throws {
        let backup = BackupRecord(
            handle: .random(), madeAt: SteppingClock.start, auditSequence: Int64(number), byteCount: 4_096,
            path: "/backups/\(number)", recipients: number == 1 ? [] : ["age1one", "age1two"],
            finishedAt: SteppingClock.start)
        try await store.write { try $0.note(backup) }
    }

    static let observers = ["mailer", "audit"]

    /// Lets each observer get to a row of the trail.
    static func observe(_ row: Int, _ store: any VaultStore) async throws {
        for name in observers {
            guard var observer = try await store.claimObserver(name, start: "\(row)", head: "\(row)") else { continue }
            observer.cursor = "\(row)"
            _ = try await store.advance(observer)
        }
    }

    static func provider(_ name: String) -> ProviderRecord {
        var record = ProviderRecord(
            name: "CANARY-\(name)", issuer: "https://CANARY-\(name).example",
            tokenEndpoint: "https://CANARY-\(name).example/token", clientID: "CANARY-client-\(name)",
            clientAuthentication: "client_secret_basic", profileName: "standard", createdAt: SteppingClock.start)
        record.clientSecrets = [SecretBytes(utf8: "CANARY-secret-\(name)")]
        return record
    }

    static func draft(user: String, number: Int, provider: ProviderHandle?) -> LoginDraft {
        let marker = "CANARY-\(user)-\(number)"
        var session = SessionRecord(
            state: .established, accessToken: SecretBytes(utf8: "\(marker)-access"), scope: "CANARY-scope",
            createdAt: SteppingClock.start, obtainedAt: SteppingClock.start,
            expiresAt: SteppingClock.start.advanced(by: .seconds(3600 + number)))
        session.label = "\(marker)-label"
        session.subject = "\(marker)-subject"
        return LoginDraft(
            userId: user, provider: provider, session: session,
            refresh: RefreshRecord(
                refreshToken: SecretBytes(utf8: "\(marker)-refresh"), idToken: SecretBytes(utf8: "\(marker)-id")),
            key: KeyRecord(
                dpopPrivateKey: SecretBytes(copying: Array(marker.utf8.prefix(32))),
                nonces: ["https://CANARY.example": "\(marker)-nonce"]),
            dueAt: SteppingClock.start.advanced(by: .seconds(1800 + number)))
    }

    static func request(
        _ number: Int, state: SecretBytes, provider: ProviderHandle
    ) -> AuthorizationRequestRecord {
        AuthorizationRequestRecord(
            state: state, codeVerifier: SecretBytes(utf8: "CANARY-verifier-\(number)"), provider: provider,
            userId: "CANARY-user-\(number)", createdAt: SteppingClock.start,
            expiresAt: SteppingClock.start.advanced(by: .seconds(86_400 + number)))
    }

    static func revocation(_ number: Int, _ provider: ProviderHandle) -> OutboxRecord {
        OutboxRecord(
            provider: provider, login: nil, user: nil,
            refreshToken: SecretBytes(utf8: "CANARY-orphan-refresh-\(number)"),
            accessToken: SecretBytes(utf8: "CANARY-orphan-access-\(number)"), createdAt: SteppingClock.start)
    }
}

extension VaultFixture {
    /// Providers, users, logins, an intent for some, pending log-ins and revocations, a second key slot.
    func fill(_ store: any VaultStore) async throws {
        let acme = try await store.putProvider(SampleVault.provider("acme"), replacing: nil)
        let globex = try await store.putProvider(SampleVault.provider("globex"), replacing: nil)
        for user in SampleVault.manyLogins {
            for number in 0..<3 {
                let provider = number == 2 ? globex : acme
                let login = try await store.insertLogin(
                    SampleVault.draft(user: user, number: number, provider: provider.handle))
                if number == 0 {
                    let now = now
                    try await store.updateLogin(login.handle) { _ = $0.openIntent(owner: 0, at: now, tries: 1) }
                }
            }
        }
        _ = try await store.insertLogin(SampleVault.draft(user: SampleVault.oneLogin, number: 0, provider: acme.handle))
        for (number, state) in SampleVault.requestStates.enumerated() {
            try await store.putAuthorizationRequest(SampleVault.request(number, state: state, provider: acme.handle))
        }
        try await store.addOutbox([SampleVault.revocation(0, acme.handle), SampleVault.revocation(1, globex.handle)])
        for number in 1...2 { try await SampleVault.note(number, store) }
        try await SampleVault.observe(1, store)
        try await addSpareKey(to: store)
    }

    /// A later state of everything that ``fill(_:)`` made.
    func change(_ store: any VaultStore) async throws {
        advance(by: .seconds(60))
        let now = now
        for userId in SampleVault.userIds {
            for handle in try await store.user(userId).logins {
                try await store.updateLogin(handle) { state in
                    state.renew(marker: "renewed-\(handle)", at: now)
                    state.intent?.tries += 1
                }
            }
            try await store.updateUser(userId) { state in
                state.status = .disabled
                state.auditEvents = [AuditEvent(.userDisabled)]
            }
            try await store.updateUser(userId) { state in
                state.status = .active
                state.auditEvents = [AuditEvent(.userEnabled)]
            }
        }
        for handle in try await store.user(SampleVault.oneLogin).logins {
            try await store.updateLogin(handle) { $0.session.failure = FailureRecord(reason: 1, at: now) }
        }
        for userId in SampleVault.manyLogins {
            guard let handle = try await store.user(userId).logins.first else { continue }
            let position = try await store.login(handle).position
            try await store.keepUnusableReply(
                UnusableReplyRecord(
                    login: handle, position: position, fence: 1, receivedAt: now, status: 200,
                    contentType: "text/html", cause: "CANARY-cause", isComplete: true,
                    body: Array("CANARY-body".utf8)))
        }
        for provider in try await store.providers().compactMap(\.provider) {
            var record = provider.record
            record.defaultScope = "CANARY-scope other"
            _ = try await store.putProvider(record, replacing: provider.handle)
        }
        try await SampleVault.observe(2, store)
        for entry in try await store.outboxEntries(limit: 10) {
            try await store.resolveOutbox(entry.handle, .retry(at: now.advanced(by: .seconds(600))))
        }
    }
}

extension LoginState {
    /// What a successful renewal leaves behind, except for the intent.
    mutating func renew(marker: String, at now: Timestamp) {
        position = position.successor
        session.accessToken = SecretBytes(utf8: "CANARY-access-\(marker)")
        session.obtainedAt = now
        session.expiresAt = now.advanced(by: .seconds(3600))
        let previous = refresh?.refreshToken
        refresh?.previousRefresh = previous
        refresh?.refreshToken = SecretBytes(utf8: "CANARY-refresh-\(marker)")
        key?.nonces["https://CANARY.example"] = "CANARY-nonce-\(marker)"
        dueAt = now.advanced(by: .seconds(1800))
        auditEvents = [AuditEvent(.renewed, [.init("generation", "\(position.generation)")])]
    }
}
