import Synchronization
import VaultCrypto
import VaultSQLite
import VaultStorage

/// What a vault must hold: for each user the generation that was acknowledged last, and the highest that was tried.
///
/// The tokens of a generation follow from its number, so that a mixture of two shows.
final class Ledger: Sendable {
    struct Entry: Sendable {
        var acknowledged: Int64?
        var attempted: Int64
    }

    private let entries: Mutex<[String: Entry]>

    init(_ entries: [String: Entry] = [:]) { self.entries = Mutex(entries) }

    var copy: Ledger { Ledger(entries.withLock { $0 }) }
    var users: [String: Entry] { entries.withLock { $0 } }
    /// All acknowledged changes of them.
    var acknowledgements: Int64 { users.values.reduce(0) { $0 + ($1.acknowledged ?? 0) } }

    func attempt(_ user: String, _ generation: Int64) {
        entries.withLock { entries in
            let before = entries[user] ?? Entry(attempted: generation)
            entries[user] = Entry(acknowledged: before.acknowledged, attempted: max(before.attempted, generation))
        }
    }

    func acknowledge(_ user: String, _ generation: Int64) {
        entries.withLock { $0[user] = Entry(acknowledged: generation, attempted: generation) }
    }

    /// As ``acknowledge(_:_:)``, where more may have been tried.
    func confirm(_ user: String, _ generation: Int64) {
        entries.withLock { $0[user]?.acknowledged = generation }
    }

    func forgetAttempts() {
        entries.withLock { entries in
            entries = entries.compactMapValues { entry in
                entry.acknowledged.map { Entry(acknowledged: $0, attempted: $0) }
            }
        }
    }

    /// What is wrong with a vault; `nil` if everything acknowledged is there, whole, and nothing that was never tried.
    func fault(of store: SQLiteVaultStore) async -> String? {
        for (user, entry) in users {
            do throws(StoreError) {
                let session = try await store.session(.user(user))
                let login = try await store.login(session.login)
                let generation = login.position.generation
                guard generation >= entry.acknowledged ?? 0 else {
                    return "\(user) is at generation \(generation), \(entry.acknowledged ?? 0) was acknowledged"
                }
                guard generation <= entry.attempted else { return "\(user) is at \(generation), which nobody wrote" }
                let isWhole =
                    session.session.accessToken == Self.token("access", user, generation)
                    && login.refresh?.refreshToken == Self.token("refresh", user, generation)
                if !isWhole { return "the tokens of \(user) are not those of generation \(generation)" }
            } catch {
                if entry.acknowledged == nil, case .notFound = error.code { continue }
                return "\(user): \(error)"
            }
        }
        return nil
    }

    static func token(_ kind: String, _ user: String, _ generation: Int64) -> SecretBytes {
        SecretBytes(utf8: "\(kind)-\(user)-\(generation)")
    }
}

/// The changes that the suites make, noted in the ledger.
struct Work: Sendable {
    let store: SQLiteVaultStore
    let ledger: Ledger

    func insert(_ user: String) async throws {
        ledger.attempt(user, 1)
        let login = try await store.insertLogin(draft(of: user))
        ledger.acknowledge(user, login.position.generation)
    }

    private func draft(of user: String) -> LoginDraft {
        let now = Sandbox.now
        return LoginDraft(
            userId: user, provider: nil,
            session: SessionRecord(
                state: .established, accessToken: Ledger.token("access", user, 1), createdAt: now,
                obtainedAt: now, expiresAt: now.advanced(by: .seconds(3600))),
            refresh: RefreshRecord(refreshToken: Ledger.token("refresh", user, 1)),
            key: KeyRecord(dpopPrivateKey: SecretBytes(copying: Array(0..<32)), nonces: ["https://a": "n"]),
            dueAt: now.advanced(by: .seconds(1800)))
    }

    /// As an import does it: the next batch is made while the one before becomes durable.
    func insertBatches(_ batches: [[String]], _ noteOne: () -> Void = {}) async throws {
        var writing: [Task<Void, any Error>] = []
        var failure: (any Error)?
        for (number, users) in (batches + [[], []]).enumerated() {
            if number >= 2 {
                switch await writing.removeFirst().result {
                case .success: noteOne()
                case .failure(let error): failure = failure ?? error
                }
            }
            if !users.isEmpty { writing.append(Task { try await insertBatch(users) }) }
        }
        if let failure { throw failure }
    }

    private func insertBatch(_ users: [String]) async throws {
        for user in users { ledger.attempt(user, 1) }
        let logins = users.map { (userId: $0, drafted: Optional(DraftedLogin(draft(of: $0)))) }
        let answers = try await store.takeImported(logins, isRehearsal: false) { _, _ in nil }
        for (user, answer) in zip(users, answers) {
            if case .added = answer { ledger.acknowledge(user, 1) }
        }
    }

    /// What is committed before a request: that it may be sent.
    func openIntent(_ user: String) async throws {
        let login = try await store.session(.user(user)).login
        let owner = store.owner
        try await store.updateLogin(login) { _ = $0.openIntent(owner: owner, at: Sandbox.now) }
    }

    /// What is committed after a reply: the next link of the chain.
    func renew(_ user: String) async throws {
        let session = try await store.session(.user(user))
        ledger.attempt(user, session.position.generation + 1)
        let generation = try await store.updateLogin(session.login) { state in
            state.position = state.position.successor
            let generation = state.position.generation
            state.session.accessToken = Ledger.token("access", user, generation)
            let previous = state.refresh?.refreshToken
            state.refresh?.previousRefresh = previous
            state.refresh?.refreshToken = Ledger.token("refresh", user, generation)
            state.intent = nil
            return generation
        }
        ledger.acknowledge(user, generation)
    }
}
