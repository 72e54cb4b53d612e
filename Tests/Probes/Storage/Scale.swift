import Foundation
import VaultCrypto
import VaultPostgreSQL
import VaultSQLite
import VaultStorage

/// What `Benchmarks/run --scale` and `Benchmarks/peers server` ask of the store, with a package's access to it. VAULT is a file
/// or, but for `trail`, a connection string.
///
///     storage-probe make VAULT KEY LOGINS     a new vault, with one login for each user
///     storage-probe tick VAULT KEY COUNT      asks COUNT times for the logins that are due, which are 100
///     storage-probe trail VAULT KEY COUNT     renews COUNT times, then checks the audit trail and prunes it
///
/// `tick` prints `nanoseconds-per-operation operations`, as the other programs of the benchmarks; `trail` what a renewal
/// adds to the file and how fast the rest was.
enum Scale {
    /// 2100-01-01. One login is due in each second from then on.
    private static let firstDue = Timestamp(milliseconds: 4_102_444_800_000)
    private static let dueCount = 100

    static func perform(_ verb: String, vault: String, key: String, count: Int) async throws {
        switch verb {
        case "make": try await make(vault, key, count)
        case "trail": try await trail(vault, key, count)
        default: try await tick(vault, key, count)
        }
    }

    private static func createStore(_ place: String, _ key: KeyFileUnlocker) throws -> any VaultStore {
        guard let address = try address(place) else {
            return try SQLiteVaultStore.create(at: place, firstSlot: key, label: "scale", clock: clock)
        }
        return try PostgreSQLVaultStore.create(
            at: address, state: StateDirectory(nil), firstSlot: key, label: "scale", clock: clock)
    }

    private static func openStore(_ place: String, _ key: KeyFileUnlocker) throws -> any VaultStore {
        guard let address = try address(place) else {
            return try SQLiteVaultStore.open(at: place, unlocker: key, clock: clock)
        }
        return try PostgreSQLVaultStore.open(at: address, state: StateDirectory(nil), unlocker: key, clock: clock)
    }

    private static func address(_ place: String) throws -> ServerAddress? {
        place.hasPrefix("postgresql://") ? try ServerAddress(place) : nil
    }

    /// As many insertions as the writer takes into one commit are under way at any time.
    private static func make(_ path: String, _ key: String, _ count: Int) async throws {
        _ = try KeyFile.create(at: key)
        let store = try createStore(path, KeyFileUnlocker(path: key))
        let provider = try await store.putProvider(
            ProviderRecord(
                name: "acme", issuer: "https://issuer.example", tokenEndpoint: "https://issuer.example/token",
                clientID: "bench", clientAuthentication: "none", profileName: "standard", createdAt: clock()),
            replacing: nil
        ).handle
        let workers = 512
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<workers {
                group.addTask {
                    for number in stride(from: worker, to: count, by: workers) {
                        _ = try await store.insertLogin(draft(number, provider))
                    }
                }
            }
            try await group.waitForAll()
        }
        store.close()
    }

    private static func draft(_ number: Int, _ provider: ProviderHandle) -> LoginDraft {
        let digits = String(number)
        let now = clock()
        return LoginDraft(
            userId: "user-" + String(repeating: "0", count: max(0, 8 - digits.count)) + digits, provider: provider,
            session: SessionRecord(
                state: .established, accessToken: SecretBytes(utf8: text("token-\(number)-0-", of: 1000)),
                createdAt: now, obtainedAt: now, expiresAt: firstDue.advanced(by: .seconds(number + 3_600))),
            refresh: RefreshRecord(refreshToken: SecretBytes(utf8: text("refresh-\(number)-", of: 100))),
            dueAt: firstDue.advanced(by: .seconds(number)))
    }

    private static func text(_ start: String, of length: Int) -> String {
        start + String(repeating: "x", count: length - start.utf8.count)
    }

    private static func tick(_ path: String, _ key: String, _ count: Int) async throws {
        let store = try openStore(path, KeyFileUnlocker(path: key))
        let end = firstDue.advanced(by: .seconds(dueCount - 1))
        guard try await store.dueLogins(before: end, limit: 1_000).logins.count == dueCount else { exit(1) }
        var found = 0
        let elapsed = try await ContinuousClock().measure {
            for _ in 0..<count { found += try await store.dueLogins(before: end, limit: 1_000).logins.count }
        }
        store.close()
        guard found == count * dueCount else { exit(1) }
        say("\(elapsed / .nanoseconds(1) / Double(count)) \(count)")
    }

    // MARK: The audit trail

    private static func trail(_ path: String, _ key: String, _ count: Int) async throws {
        let store = try SQLiteVaultStore.open(at: path, unlocker: KeyFileUnlocker(path: key), clock: clock)
        defer { store.close() }
        let logins = try await store.logins(ofUser: nil, after: nil, limit: 100).map(\.handle)
        for login in logins { try await renew(login, store) }
        let (bytes, rows) = (try await size(store), try await store.auditHead())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, login) in logins.enumerated() {
                group.addTask {
                    for _ in stride(from: index, to: count, by: logins.count) { try await renew(login, store) }
                }
            }
            try await group.waitForAll()
        }
        let added = try await store.auditHead() - rows
        say(
            "\(Double(added) / Double(count)) rows, \(Double(try await size(store) - bytes) / Double(count)) bytes a renewal"
        )
        var report: VerificationReport?
        let checking = try await ContinuousClock().measure { report = try await store.verifyAudit() }
        guard let report, report.isClean else { exit(1) }
        say("\(report.auditRows) rows checked in \(checking)")
        var (removed, longest) = (Int64(0), Duration.zero)
        var step = PrunedRows()
        let pruning = try await ContinuousClock().measure {
            repeat {
                let time = try await ContinuousClock().measure {
                    step = try await store.pruneTrail(TrailLimits(before: nil))
                }
                removed += step.removed
                longest = max(longest, time)
            } while step.hasMore
        }
        say("\(removed) rows removed in \(pruning), the longest step took \(longest)")
        guard try await store.verify().isClean else { exit(1) }
    }

    /// What the file has of pages.
    private static func size(_ store: SQLiteVaultStore) async throws -> Int64 {
        try await store.statistics().engine.byteCount
    }

    private static func renew(_ login: LoginHandle, _ store: SQLiteVaultStore) async throws {
        let now = clock()
        let owner = store.owner
        try await store.updateLogin(login) { state in
            state.openIntent(owner: owner, at: now, tries: 1)
            state.auditEvents = [AuditEvent(.renewalStarted)]
        }
        try await store.updateLogin(login) { state in
            state.intent = nil
            state.position = state.position.successor
            state.session.expiresAt = now.advanced(by: .seconds(3_600))
            state.auditEvents = [AuditEvent(.renewed)]
        }
    }

    private static let clock: @Sendable () -> Timestamp = {
        Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    }
}
