import FoundationEssentials
import TestSupport
import TokenVaultPostgreSQL
import TokenVaultTesting
import VaultAdministration
import VaultCrypto

@testable import TokenVault
@testable import VaultStorage

/// A vault that holds one of everything, and an empty one to move it to.
struct MoveScene: Sendable {
    enum Place: String, CaseIterable, Sendable { case file, server }

    /// From where to where.
    struct Way: Sendable, CustomStringConvertible {
        let from: Place
        let to: Place
        var description: String { "\(from) to \(to)" }
        static let all = Place.allCases.flatMap { from in Place.allCases.map { Way(from: from, to: $0) } }
        /// Those that are played with an end at each step.
        static let ended = Depth.pick(brief: all.filter { $0.from != $0.to }, nightly: all, deep: all)
    }

    let source: MovedVault
    let target: MovedVault

    init(_ way: Way) throws {
        source = try MovedVault(way.from)
        target = try MovedVault(way.to)
    }
}

/// Where a vault of these tests lies, and its key.
final class MovedVault: Sendable {
    let location: VaultLocation
    private let directory: PrivateDirectory
    private var key: KeySource { .keyFile(directory.file("vault.key")) }

    init(_ place: MoveScene.Place) throws {
        directory = try PrivateDirectory(in: PrivateDirectory.fastParent)
        try KeyFiles.generate(at: directory.file("vault.key"))
        location =
            switch place {
            case .file: .sqlite(directory.file("vault.db"))
            case .server:
                try .postgreSQL(
                    PostgreSQLServer.shared().address(schema: PostgreSQLServer.newSchema()),
                    stateDirectory: directory.file("state"))
            }
    }

    func create() async throws -> Vault { try await Vault.create(in: location, unlockedBy: key) }
    func open() async throws -> Vault { try await Vault.open(in: location, unlockedBy: key) }

    /// Opens the vault for a moment.
    func with<R>(_ body: (Vault) async throws -> R) async throws -> R {
        let vault = try await open()
        do {
            let result = try await body(vault)
            await vault.close()
            return result
        } catch {
            await vault.close()
            throw error
        }
    }
}

extension Vault {
    private static let longAgo = Timestamp(milliseconds: 1_700_000_000_000)
    private static let state = "CANARY-state"

    /// Everything that a login, a user or a journal can be.
    func fill() async throws {
        let acme = try await addProvider(Sample.provider()).name
        try await addProvider(Sample.provider(name: "other", dpop: .required))
        let provider = try await store.provider(named: acme).handle
        let held = try await insert("erin", provider)
        // What was there before is held from now on.
        try await store.holdAllLogins(AuditEvent(.witnessReplaced))
        _ = held
        try await addRichLogins(provider)
        try await addTroubledLogins(provider)
        try await addJournals(provider)
    }

    private func insert(
        _ user: String, _ provider: ProviderHandle?, _ change: (inout LoginDraft) -> Void = { _ in }
    ) async throws -> LoginHandle {
        var session = SessionRecord(
            state: .established, accessToken: SecretBytes(utf8: "CANARY-access-\(user)"), scope: "read",
            createdAt: Self.longAgo, obtainedAt: now, expiresAt: now.advanced(by: .seconds(3_599)))
        session.grantedAt = Self.longAgo
        var draft = LoginDraft(
            userId: user, provider: provider, session: session,
            refresh: RefreshRecord(refreshToken: SecretBytes(utf8: "CANARY-refresh-\(user)")),
            dueAt: now.advanced(by: .seconds(3_000)))
        change(&draft)
        return try await store.insertLogin(draft).handle
    }

    private func addRichLogins(_ provider: ProviderHandle) async throws {
        let now = now
        let rich = try await insert("älice@example", provider) { draft in
            draft.session.label = "work"
            draft.session.metadata = ["color": "blue"]
            draft.session.grantedScope = "read write"
            draft.session.subject = "subject-1"
            draft.session.attributes = ["instance_url": "https://eu.example"]
            draft.session.accessGeneration = 3
            draft.session.isExpiryAssumed = true
            draft.session.resourceTokens = [
                TokenRecord(
                    target: TokenTarget(resource: "https://api.example", scope: "read"),
                    accessToken: SecretBytes(utf8: "CANARY-resource"), obtainedAt: now, generation: 2)
            ]
            draft.refresh?.idToken = SecretBytes(utf8: "CANARY-id")
            draft.refresh?.previousRefresh = SecretBytes(utf8: "CANARY-previous")
            draft.refresh?.previousRole = .sibling
            draft.refresh?.previousSince = now
            draft.refresh?.refreshExpiresAt = now.advanced(by: .seconds(86_400))
            draft.key = KeyRecord(
                dpopPrivateKey: SecretBytes(utf8: "CANARY-dpop-private-key-of-32-by"),
                nonces: ["https://acme.example": "nonce"])
        }
        try await store.updateLogin(rich) { state in
            state.position = ChainPosition(chain: 2, generation: 7)
        }
        let position = try await store.login(rich).position
        try await store.keepUnusableReply(
            UnusableReplyRecord(
                login: rich, position: position, fence: 3, receivedAt: now, status: 200, contentType: "text/html",
                cause: "test", isComplete: true, body: Array("CANARY-body".utf8)))
        _ = try await insert("älice@example", nil) { $0.refresh = nil }
        let gone = try await insert("dave", provider)
        try await store.updateLogin(gone) { $0.isRemoved = true }
        for number in 0..<150 { _ = try await insert("user \(number)", provider) }
    }

    private func addTroubledLogins(_ provider: ProviderHandle) async throws {
        let now = now
        let dead = try await insert("bob", provider)
        try await store.updateLogin(dead) { state in
            state.session.failure = FailureRecord(reason: 1, at: now)
            state.session.lastRefusal = RefusalRecord(
                at: now, status: 400, error: SecretBytes(utf8: "invalid_grant"), message: nil)
            state.key = nil
        }
        let ended = try await insert("carol", provider)
        try await store.updateLogin(ended) { state in
            state.session.state = .terminated
            state.session.terminationReason = 2
        }
        try await store.updateUser("carol") { $0.status = .disabled }
        _ = try await insert("frank", provider) { draft in
            draft.session.origin = ImportOrigin(
                source: "allauth", row: .zero, tokens: .zero, owner: .source, takenAt: now)
        }
        _ = try await insert("grace", provider) { draft in
            draft.session.notBefore = now.advanced(by: .seconds(600))
            draft.session.attempts = 3
            draft.session.rejections = RejectionHistory(count: 2, since: now)
            draft.session.rejectedGeneration = 1
        }
        _ = try await insert("heidi", provider) { draft in
            draft.refresh?.doubtSince = now
            draft.session.cameAfterDoubt = true
        }
    }

    private func addJournals(_ provider: ProviderHandle) async throws {
        let records = (0..<3).map { number in
            OutboxRecord(
                provider: provider, login: nil, user: nil, refreshToken: SecretBytes(utf8: "CANARY-gone-\(number)"),
                accessToken: nil, createdAt: now)
        }
        try await store.addOutbox(records)
        try await store.resolveOutbox(
            records[1].handle, .retry(at: now.advanced(by: .seconds(60)), nonces: ["https://acme.example": "n"]))
        try await store.putAuthorizationRequest(
            AuthorizationRequestRecord(
                state: SecretBytes(utf8: Self.state), codeVerifier: SecretBytes(utf8: "CANARY-verifier"),
                provider: provider, userId: "ivan", createdAt: now, expiresAt: now.advanced(by: .seconds(3_600))))
    }

    // MARK: What there is

    /// All that an app or an operator can know of the vault's content.
    func facts() async throws -> MovedFacts {
        var facts = MovedFacts()
        facts.providers = try await providerEntries().sorted { "\($0)" < "\($1)" }
        facts.records = try await store.providers().compactMap(\.provider?.record).sorted { $0.name < $1.name }
        for entry in try await store.users(after: nil, limit: 1_000) {
            let user = try entry.user.unwrapped()
            facts.users.append(MovedFacts.User(user))
            if user.logins.isEmpty { continue }
            facts.publicLogins += try await logins(ofUser: user.id, after: nil, limit: 1_000)
            for login in user.logins {
                facts.logins.append(MovedFacts.StoredFacts(try await store.login(login)))
                facts.replies += try await store.unusableReplies(of: login)
            }
        }
        facts.logins.sort { $0.handle.bytes < $1.handle.bytes }
        facts.untold = Set(try await store.unreportedFailures(limit: 100))
        facts.outbox = try await store.outbox(after: nil, limit: 100).compactMap(\.entry)
        facts.requests = try await store.pendingLogIns(after: nil, limit: 100).requests
        return facts
    }

    /// Whether this vault would let a refresh token be sent, for at least one login.
    func couldRenew() async throws -> Bool {
        let now = now
        for user in try await store.users(after: nil, limit: 1_000) {
            for login in user.user?.logins ?? [] {
                let stored = try await store.login(login)
                guard !stored.isHeld, stored.session.isLiving, stored.isRefreshable else { continue }
                do {
                    let owner = store.owner
                    try await store.updateLogin(login) { _ = $0.openIntent(owner: owner, at: now) }
                    try await store.updateLogin(login) { $0.intent = nil }
                    return true
                } catch let error as StoreError where error.code == .moved {
                    return false
                }
            }
        }
        return false
    }
}

/// Compared before and after a move.
struct MovedFacts: Equatable {
    struct User: Equatable {
        let handle: UserHandle
        let id: String
        let status: UserStatus
        let createdAt: Timestamp
        let logins: Set<LoginHandle>

        init(_ user: StoredUser) {
            (handle, id, status, createdAt) = (user.handle, user.id, user.status, user.createdAt)
            logins = Set(user.logins)
        }
    }

    /// All but the revision, which counts the changes of a row, and the number of the incarnation.
    struct StoredFacts: Equatable {
        let handle: LoginHandle
        let user: UserHandle
        let provider: ProviderHandle?
        let position: ChainPosition
        let isHeld: Bool
        let dueAt: Timestamp?
        let session: SessionRecord
        let refresh: RefreshRecord?
        let key: KeyRecord?
        let intent: IntentRecord?

        init(_ login: StoredLogin) {
            (handle, user, provider, position) = (login.handle, login.user, login.provider, login.position)
            (isHeld, dueAt, session, refresh) = (login.isHeld, login.dueAt, login.session, login.refresh)
            (key, intent) = (login.key, login.intent)
        }
    }

    var providers: [ProviderEntry] = []
    var records: [ProviderRecord] = []
    var users: [User] = []
    var publicLogins: [LoginEntry] = []
    var logins: [StoredFacts] = []
    var replies: [UnusableReplyListing] = []
    var untold: Set<LoginHandle> = []
    var outbox: [StoredOutboxEntry] = []
    var requests: [AuthorizationRequestRecord] = []
}

extension Optional {
    func unwrapped() throws -> Wrapped {
        guard let self else { throw NeverHappened() }
        return self
    }
}
