import BenchProgram
import FoundationEssentials
import OAuthClient
import TokenVault
import TokenVaultTesting

/// One user with many logins, beside one who has a single login.
extension Workload {
    private static let (single, few, many) = ("single", "few", "many")
    private var fewer: Int { max(1, logins / 10) }

    /// A vault of three users: with one login, with a tenth of `logins`, and with all of them.
    func makeMany() async throws {
        try KeyFiles.generate(at: key)
        let opened = try await Vault.create(at: vault, unlockedBy: .keyFile(key))
        let users = try await users(of: opened)
        try await opened.addProvider(
            ProviderRegistration(
                name: "acme", issuer: Issuer("https://issuer.example"),
                tokenEndpoint: EndpointURL("https://issuer.example/token"), clientID: ClientID("bench")))
        let expiresAt = Date().addingTimeInterval(86_400)
        for (user, count) in [(Self.single, 1), (Self.few, fewer), (Self.many, logins)] {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<128 {
                    group.addTask {
                        for number in stride(from: worker, to: count, by: 128) {
                            _ = try await users.addLogin(
                                userId: user, provider: "acme", accessToken: Self.token(number, generation: 0),
                                expiresAt: expiresAt,
                                refreshToken: RefreshToken("refresh-\(number)-" + String(repeating: "y", count: 80)))
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        await opened.close()
    }

    /// Prints JSON: nanoseconds for a read and a renewal of a login of both users, bytes written for a renewal, nanoseconds
    /// for a read of any login of the user with many, and for each login of a listing.
    func manyLogins(_ count: Int) async throws {
        let opened = try await open()
        let users = try await UserManager(vault: opened, transport: InstantProvider())
        var figures: [String: Double] = [:]
        for user in [Self.single, Self.many] {
            let ids = Array(try await opened.user(user).logins.prefix(64))
            let order = (0..<count).map { ids[$0 % ids.count] }
            let reading = try await ContinuousClock().measure {
                for id in order { _ = try await users.accessToken(for: .login(id)) }
            }
            figures["read.\(user)"] = reading / .nanoseconds(1) / Double(count)
            let before = Self.bytesWritten()
            let renewing = try await ContinuousClock().measure {
                for id in order { _ = try await users.accessToken(for: .login(id), .renewed) }
            }
            figures["renew.\(user)"] = renewing / .nanoseconds(1) / Double(count)
            figures["written.\(user)"] = Double(Self.bytesWritten() - before) / Double(count)
        }
        figures["read.any"] = try await readAny(count * 20, users, opened)
        for (user, logins) in [(Self.few, fewer), (Self.many, logins)] {
            let listing = try await ContinuousClock().measure {
                guard try await Self.list(user, opened) == logins else { throw NotComplete() }
            }
            figures["list.\(user)"] = listing / .nanoseconds(1) / Double(logins)
        }
        await opened.close()
        let members = figures.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
        print("{\(members.joined(separator: ","))}")
    }

    /// Nanoseconds for a read of one of all logins of the user with many, drawn at random.
    private func readAny(_ count: Int, _ users: UserManager, _ vault: Vault) async throws -> Double {
        let ids = try await vault.user(Self.many).logins
        var drawn = Order(seed: 1, users: ids.count)
        let order = (0..<count).map { _ in drawn.nextUser() }
        for number in order { _ = try await users.accessToken(for: .login(ids[number])) }
        let reading = try await ContinuousClock().measure {
            for number in order { _ = try await users.accessToken(for: .login(ids[number])) }
        }
        return reading / .nanoseconds(1) / Double(count)
    }

    private static func list(_ user: String, _ vault: Vault) async throws -> Int {
        var count = 0
        for try await _ in vault.logins(where: LoginFilter(userId: user), pageSize: 1_000) { count += 1 }
        return count
    }

    /// By this process so far, to whatever.
    private static func bytesWritten() -> Int { BenchProgram.number("wchar", of: "io") }
}
