import Foundation
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// A vault in which every table has rows, closed, with a copy of its file to come back to.
final class PopulatedVault {
    let fixture: VaultFixture
    let users = ["alice", "bob", "carol"]
    private let pristine: Data

    init() async throws {
        fixture = try VaultFixture()
        let store = try fixture.create()
        let now = fixture.now
        let acme = try await store.putProvider(.sample(at: now), replacing: nil)
        let other = try await store.putProvider(.sample("other", at: now), replacing: nil)
        for user in users {
            let draft = fixture.draft(user, provider: acme.handle, isBound: true)
            let login = try await store.insertLogin(draft)
            _ = try await store.insertLogin(fixture.draft(user, user + "-2", provider: other.handle, isBound: true))
            try await store.updateLogin(login.handle) { state in
                state.position = state.position.successor
                state.openIntent(owner: 77, at: now, doubtSince: now)
                state.auditEvents = [AuditEvent(.renewalStarted, [.init("generation", "1")])]
                state.outbox = [
                    OutboxRecord(
                        provider: acme.handle, login: state.handle, user: state.user,
                        refreshToken: .canary("outbox-\(user)"), accessToken: nil, createdAt: now)
                ]
            }
            try await store.putAuthorizationRequest(.sample(user, acme.handle, at: now))
        }
        store.close()
        pristine = try Self.checkpointed(fixture)
    }

    private static func checkpointed(_ fixture: VaultFixture) throws -> Data {
        do {
            let connection = try Connection(path: fixture.path)
            try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        return try Data(contentsOf: URL(fileURLWithPath: fixture.path))
    }

    func restore(_ data: Data? = nil) throws {
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: fixture.path + suffix) }
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: fixture.path))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: data ?? pristine)
        try handle.close()
    }

    var bytes: Data { pristine }
    var size: Int { pristine.count }

    func flipped(at offset: Int) -> Data {
        var data = pristine
        data[offset] ^= 0x40
        return data
    }

    enum Verdict: Equatable {
        case refusedAtOpening
        case found
        case unnoticed
    }

    /// What an operator is told of the vault as it now is.
    func verdict() async throws -> Verdict {
        let store: SQLiteVaultStore
        do { store = try fixture.open() } catch { return .refusedAtOpening }
        defer { store.close() }
        do {
            return try await store.verify().isClean ? .unnoticed : .found
        } catch {
            return .found
        }
    }
}

extension AuthorizationRequestRecord {
    static func sample(_ name: String, _ provider: ProviderHandle, at now: Timestamp) -> AuthorizationRequestRecord {
        AuthorizationRequestRecord(
            state: .canary("state-\(name)"), codeVerifier: .canary("verifier-\(name)"), provider: provider,
            userId: "user-of-request", redirectURI: "http://localhost/", scope: "a b", dpopPrivateKey: .canary("k"),
            label: "l", createdAt: now, expiresAt: now.advanced(by: .seconds(600)))
    }
}

extension CallbackProof {
    /// What completes any log-in.
    static func unbound(_ state: SecretBytes) -> CallbackProof { CallbackProof(state: state, binding: .unbound) }
}
