import BenchProgram
import Dispatch
import OAuthClient
import TokenVault
import TokenVaultHTTP

/// One process of a service: it answers for each line of its input, a user, with the token that the vault gives.
struct Worker: Sendable {
    let vault: Vault
    let transport: AsyncHTTPTransport
    let users: UserManager
    /// How long a token must be good for.
    let lead: Duration

    init(vault path: String, key: String, lead: Duration) async throws {
        vault = try await Vault.open(at: path, unlockedBy: .keyFile(key))
        transport = AsyncHTTPTransport(options: .init(allowsInsecureLoopback: true))
        users = try await UserManager(vault: vault, transport: transport)
        self.lead = lead
    }

    /// Each line is `NUMBER USER`; its answer `NUMBER MILLISECONDS OUTCOME`, whenever it is there.
    func serve() async throws {
        BenchProgram.say("ready")
        try await withThrowingDiscardingTaskGroup { group in
            for await line in Self.input() {
                let words = line.split(separator: " ").map(String.init)
                guard words.count == 2 else { throw BadLine() }
                group.addTask { await answer(words[0], words[1]) }
            }
        }
        await vault.close()
        await transport.shutdown()
    }

    /// The lines of standard input, read by a thread of their own.
    private static func input() -> AsyncStream<String> {
        AsyncStream { lines in
            DispatchQueue(label: "input").async {
                while let line = readLine() { lines.yield(line) }
                lines.finish()
            }
        }
    }

    private func answer(_ number: String, _ user: String) async {
        let start = ContinuousClock.now
        var outcome = "ok"
        do {
            _ = try await users.accessToken(userId: user, minimumValidity: lead)
        } catch {
            outcome = (error as? VaultError)?.code.name ?? String(describing: type(of: error))
        }
        BenchProgram.say("\(number) \((ContinuousClock.now - start) / .milliseconds(1)) \(outcome)")
    }

    /// Renews ahead of time what is due, in this process, as a service does.
    func schedule() {
        let scheduler = RenewalScheduler(users)
        Task { try await scheduler.run() }
    }
}

/// A line that is not as the two ends have agreed.
struct BadLine: Error {}
