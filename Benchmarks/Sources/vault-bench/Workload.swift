import BenchProgram
import FoundationEssentials
import OAuthClient
import TokenVault
import TokenVaultTesting
import VaultImport

/// What both programs do, on the library.
struct Workload: Sendable {
    let vault: String
    let key: String
    let logins: Int

    /// Written out: in the instruction counts there is no telling it from the library's work.
    static func userId(_ number: Int) -> String {
        let prefix = "user-".utf8.count
        return String(unsafeUninitializedCapacity: prefix + 8) { buffer in
            _ = buffer.initialize(from: "user-".utf8)
            var rest = number
            for place in (prefix..<prefix + 8).reversed() {
                buffer[place] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            }
            return prefix + 8
        }
    }

    /// About as long as a JWT with a handful of claims.
    static func token(_ number: Int, generation: Int) throws -> AccessToken {
        let start = "token-\(number)-\(generation)-"
        return try AccessToken(start + String(decoding: filler.prefix(1000 - start.utf8.count), as: UTF8.self))
    }

    private static let filler = [UInt8](repeating: UInt8(ascii: "x"), count: 1000)

    func open() async throws -> Vault {
        try await Vault.open(at: vault, unlockedBy: .keyFile(key))
    }

    func users(of vault: Vault) async throws -> UserManager {
        try await UserManager(vault: vault, transport: ScriptedTransport())
    }

    /// A vault of `logins` users with one login at each provider. Their tokens are good for a day.
    ///
    /// - Parameters:
    ///   - areBound: Whether each login has a DPoP key.
    ///   - tenant: Whose users and providers they are.
    func make(providers: [String] = ["acme"], areBound: Bool = false, tenant: Tenant? = nil) async throws {
        try KeyFiles.generate(at: key)
        let opened = try await Vault.create(at: vault, unlockedBy: .keyFile(key))
        var users = try await users(of: opened)
        if let tenant { users = users.scoped(to: tenant) }
        for name in providers {
            try await opened.addProvider(
                ProviderRegistration(
                    name: name, issuer: Issuer("https://\(name).example"),
                    tokenEndpoint: EndpointURL("https://\(name).example/token"), clientID: ClientID("bench")),
                of: tenant)
        }
        let expiresAt = Date().addingTimeInterval(86_400)
        try await withThrowingTaskGroup(of: Void.self) { [users] group in
            for worker in 0..<128 {
                group.addTask {
                    for number in stride(from: worker, to: logins, by: 128) {
                        for name in providers {
                            _ = try await users.addLogin(
                                userId: Self.userId(number), provider: name,
                                accessToken: Self.token(number, generation: 0), expiresAt: expiresAt,
                                refreshToken: RefreshToken("refresh-\(number)-" + String(repeating: "y", count: 80)),
                                tokenType: areBound ? .dpop : nil, dpopKey: areBound ? .generate() : nil)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        await opened.close()
    }

    /// Synchronous reads.
    ///
    /// - Parameter known: Whether each user has been read before, which does not count.
    func read(_ order: [String], known: Bool = false, prints: Bool = true) async throws {
        let users = try await users(of: open())
        let (elapsed, bytes) = try await time(order, known: known) { user in
            guard let token = try await users.validAccessToken(for: .user(user)) else { throw NoToken() }
            return token.accessToken.reveal().utf8.count
        }
        if prints { report(elapsed, order.count, bytes) }
    }

    /// Users whom this process has never met, each once and in random order: those are compared with the trail.
    ///
    /// - Parameter again: Measures the second time.
    func meet(_ count: Int, _ order: Order, again: Bool) async throws {
        var order = order
        try await read((0..<logins).shuffled(using: &order).prefix(count).map(Self.userId), known: again)
    }

    /// Reads by `accessToken`, as services do.
    ///
    /// - Parameter provider: At which of the user's providers; nil: their only one.
    func await(_ order: [String], at provider: String? = nil, known: Bool = false) async throws {
        let users = try await users(of: open())
        let (elapsed, bytes) = try await time(order, known: known) { user in
            let login: LoginRef = if let provider { .user(user, provider: provider) } else { .user(user) }
            return try await users.accessToken(for: login).accessToken.reveal().utf8.count
        }
        report(elapsed, order.count, bytes)
    }

    /// Logins of a tenant by their ids, each of a user who has been read before.
    func await(_ order: [String], of tenant: Tenant) async throws {
        let vault = try await open()
        let users = try await users(of: vault).scoped(to: tenant)
        var filter = LoginFilter()
        filter.tenant = tenant
        var ids: [String: LoginID] = [:]
        for try await entry in vault.logins(where: filter, pageSize: 1_000) {
            if case .login(let login) = entry { ids[login.userId] = login.id }
        }
        let (elapsed, bytes) = try await time(order, known: true) { [ids] user in
            guard let id = ids[user] else { throw NoToken() }
            return try await users.accessToken(for: .login(id)).accessToken.reveal().utf8.count
        }
        report(elapsed, order.count, bytes)
    }

    /// Tasks at the same time, each of which reads users who have been read before.
    func await(_ orders: [[String]]) async throws {
        let users = try await users(of: open())
        @Sendable func read(_ order: [String]) async throws {
            for user in order { _ = try await users.accessToken(userId: user) }
        }
        for order in orders { try await read(order) }
        let elapsed = try await ContinuousClock().measure {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for order in orders { group.addTask { try await read(order) } }
                try await group.waitForAll()
            }
        }
        report(elapsed, orders.map(\.count).reduce(0, +), 1)
    }

    /// - Parameter known: Whether to do it once before.
    private func time(
        _ order: [String], known: Bool, _ work: (String) async throws -> Int
    ) async throws -> (elapsed: Duration, bytes: Int) {
        var bytes = 0
        if known { for user in order { bytes += try await work(user) } }
        let elapsed = try await ContinuousClock().measure {
            for user in order { bytes += try await work(user) }
        }
        return (elapsed, bytes)
    }

    func update(_ order: [String]) async throws {
        let users = try await users(of: open())
        let expiresAt = Date().addingTimeInterval(86_400)
        // A few, for the same reason. No login has one of them yet, and hardly one gets the same twice.
        let tokens = try (0..<64).map { try Self.token($0, generation: 1) }
        let elapsed = try await ContinuousClock().measure {
            for (index, user) in order.enumerated() {
                try await users.updateAccessToken(
                    userId: user, accessToken: tokens[index % tokens.count], expiresAt: expiresAt)
            }
        }
        report(elapsed, order.count, 1)
    }

    /// The same change by many callers at a time, who share commits.
    func update(_ order: [String], callers: Int) async throws {
        let users = try await users(of: open())
        let expiresAt = Date().addingTimeInterval(86_400)
        let tokens = try (0..<64).map { try Self.token($0, generation: 1) }
        let elapsed = try await ContinuousClock().measure {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for caller in 0..<callers {
                    group.addTask {
                        for index in stride(from: caller, to: order.count, by: callers) {
                            try await users.updateAccessToken(
                                userId: order[index], accessToken: tokens[index % tokens.count], expiresAt: expiresAt)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        report(elapsed, order.count, 1)
    }

    func open(_ order: [String]) async throws {
        let elapsed = try await ContinuousClock().measure {
            for user in order {
                let opened = try await open()
                let users = try await users(of: opened)
                guard try await users.validAccessToken(for: .user(user)) != nil else { throw NoToken() }
                await opened.close()
            }
        }
        report(elapsed, order.count, 1)
    }

    func rotate() async throws {
        let opened = try await open()
        let elapsed = try await ContinuousClock().measure {
            guard try await opened.rotateRootKey() else { throw NotComplete() }
        }
        report(elapsed, logins, 1)
    }

    /// Reads a store of another system, and judges its rows.
    func rows(of path: String) async throws {
        var rows = ImportReading(try ImportSource(path: path), now: Date()).makeAsyncIterator()
        let elapsed = try await ContinuousClock().measure { while try await rows.next() != nil {} }
        report(elapsed, rows.summary.rows, 1)
    }

    /// Takes a store of another system into a new vault. Its rows name the providers `acme` and `google`.
    func take(from path: String) async throws {
        try KeyFiles.generate(at: key)
        let opened = try await Vault.create(at: vault, unlockedBy: .keyFile(key))
        for name in ["acme", "google"] {
            try await opened.addProvider(
                ProviderRegistration(
                    name: name, issuer: Issuer("https://\(name).example"),
                    tokenEndpoint: EndpointURL("https://\(name).example/token"), clientID: ClientID("client")))
        }
        var rows = ImportRun(try ImportSource(path: path), into: opened).makeAsyncIterator()
        let elapsed = try await ContinuousClock().measure { while try await rows.next() != nil {} }
        guard rows.result[.added] + rows.result[.registration] == rows.result.rows else { throw NotComplete() }
        await opened.close()
        report(elapsed, rows.result.rows, 1)
    }

    func report(_ elapsed: Duration, _ count: Int, _ bytes: Int) {
        precondition(bytes > 0)
        let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
        print("\(seconds * 1e9 / Double(max(count, 1))) \(count)")
    }
}

/// Work of which something was left undone.
struct NotComplete: Error {}

/// A user whose token should be good has none.
struct NoToken: Error {}

/// The process's peak memory in KiB.
func peakMemory() -> Int { BenchProgram.number("VmHWM", of: "status") }
