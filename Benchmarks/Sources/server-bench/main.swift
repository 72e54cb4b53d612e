import BenchProgram
import FoundationEssentials
import Glibc
import OAuthClient
import TokenVault
import TokenVaultPostgreSQL
import TokenVaultTesting

// A vault on a PostgreSQL server: TokenVault's side of `Benchmarks/peers server`; `reference/server.c` is the other.
// Prints `nanoseconds-per-operation operations p50 p99`, the last two in nanoseconds of one call.
//
//     server-bench make   CONNECTION KEY LOGINS
//     server-bench read   CONNECTION KEY LOGINS COUNT SEED CALLERS   good tokens, CALLERS at a time
//     server-bench change CONNECTION KEY LOGINS COUNT SEED CALLERS   durable changes, CALLERS at a time
//     server-bench idle   CONNECTION KEY LOGINS SECONDS              has the vault open, with a scheduler

let arguments = CommandLine.arguments

struct Work: Sendable {
    let location: VaultLocation
    let key: String
    let logins: Int

    static func token(_ number: Int) throws -> AccessToken {
        let start = "token-\(number)-"
        return try AccessToken(start + String(repeating: "x", count: 1_000 - start.utf8.count))
    }

    func users() async throws -> UserManager {
        let vault = try await Vault.open(in: location, unlockedBy: .keyFile(key))
        return try await UserManager(vault: vault, transport: ScriptedTransport())
    }

    func make() async throws {
        try KeyFiles.generate(at: key)
        let vault = try await Vault.create(in: location, unlockedBy: .keyFile(key))
        let users = try await UserManager(vault: vault, transport: ScriptedTransport())
        try await vault.addProvider(
            ProviderRegistration(
                name: "acme", issuer: Issuer("https://issuer.example"),
                tokenEndpoint: EndpointURL("https://issuer.example/token"), clientID: ClientID("bench")))
        let expiresAt = Date().addingTimeInterval(86_400)
        try await each(logins, callers: 256) { number in
            _ = try await users.addLogin(
                userId: BenchProgram.user(number), provider: "acme", accessToken: Self.token(number),
                expiresAt: expiresAt,
                refreshToken: RefreshToken("refresh-\(number)-" + String(repeating: "y", count: 80)))
        }
        await vault.close()
    }

    func read(_ count: Int, _ seed: Int, _ callers: Int) async throws {
        let users = try await users()
        // Each caller's connection is made before.
        try await each(callers * 4, callers: callers) {
            _ = try await users.accessToken(userId: BenchProgram.user($0 % logins))
        }
        try await measure(count, callers) { number in
            _ = try await users.accessToken(userId: BenchProgram.user((number &* 7_919 &+ seed) % logins))
        }
    }

    func change(_ count: Int, _ seed: Int, _ callers: Int) async throws {
        let users = try await users()
        let expiresAt = Date().addingTimeInterval(86_400)
        try await users.updateAccessToken(
            userId: BenchProgram.user(0), accessToken: Self.token(seed), expiresAt: expiresAt)
        try await measure(count, callers) { number in
            try await users.updateAccessToken(
                userId: BenchProgram.user((number &* 7_919 &+ seed) % logins), accessToken: Self.token(number),
                expiresAt: expiresAt)
        }
    }

    func idle(_ seconds: Int) async throws {
        let users = try await users()
        let scheduler = Task { try await RenewalScheduler(users).run() }
        BenchProgram.say("ready")
        try await Task.sleep(for: .seconds(seconds))
        scheduler.cancel()
        _ = try? await scheduler.value
    }

    private func each(_ count: Int, callers: Int, _ body: @escaping @Sendable (Int) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<callers {
                group.addTask {
                    for number in stride(from: caller, to: count, by: callers) { try await body(number) }
                }
            }
            try await group.waitForAll()
        }
    }

    private func measure(
        _ count: Int, _ callers: Int, _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        var times: [Duration] = []
        try await withThrowingTaskGroup(of: [Duration].self) { group in
            for caller in 0..<callers {
                group.addTask {
                    var times: [Duration] = []
                    for number in stride(from: caller, to: count, by: callers) {
                        times.append(try await clock.measure { try await body(number) })
                    }
                    return times
                }
            }
            for try await some in group { times += some }
        }
        let elapsed = start.duration(to: clock.now)
        times.sort()
        let (median, late) = (times[times.count / 2], times[min(times.count - 1, times.count * 99 / 100)])
        print(
            "\(elapsed / .nanoseconds(1) / Double(count)) \(count) \(median / .nanoseconds(1)) \(late / .nanoseconds(1))"
        )
    }
}

@Sendable func run() async throws {
    guard arguments.count >= 5, let logins = Int(arguments[4]) else { exit(64) }
    let work = Work(location: try .postgreSQL(arguments[2]), key: arguments[3], logins: logins)
    let numbers = arguments[5...].compactMap { Int($0) }
    switch (arguments[1], numbers.count) {
    case ("make", 0): try await work.make()
    case ("read", 3): try await work.read(numbers[0], numbers[1], numbers[2])
    case ("change", 3): try await work.change(numbers[0], numbers[1], numbers[2])
    case ("idle", 1): try await work.idle(numbers[0])
    default: exit(64)
    }
}

BenchProgram.run("server-bench", run)
