import BenchProgram
import FoundationEssentials
import OAuthClient
import TokenVault
import TokenVaultTesting

/// Durable changes, one after the other for each of several callers.
struct Commits {
    let path: String
    let key: String
    let logins: Int

    /// Prints `nanoseconds-per-change changes`, of the time that all callers took together.
    func run(count: Int, seed: Int, callers: Int) async throws {
        let vault = try await Vault.open(at: path, unlockedBy: .keyFile(key))
        let users = try await UserManager(vault: vault, transport: ScriptedTransport())
        let expiresAt = Date().addingTimeInterval(86_400)
        let text = String(repeating: "x", count: 980)
        let elapsed = try await ContinuousClock().measure {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for caller in 0..<callers {
                    group.addTask {
                        for number in stride(from: caller, to: count, by: callers) {
                            try await users.updateAccessToken(
                                userId: BenchProgram.user((number &* 7919 &+ seed) % logins),
                                accessToken: AccessToken("token-\(number)-\(text)"), expiresAt: expiresAt)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        await vault.close()
        BenchProgram.say("\(elapsed / .nanoseconds(1) / Double(count)) \(count)")
    }
}
