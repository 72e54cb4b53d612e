import FoundationEssentials
import OAuthClient
import Synchronization
import Testing
import TokenVaultTesting
import VaultStorage

@testable import TokenVault

/// A server that answers each request with the next tokens, and notes when it was asked.
final class RotatingServer: Sendable {
    private let asked = Mutex<[(at: Duration, token: String)]>([])
    private let time: ManualTimeSource

    init(_ world: World, lifetime: Int = 3_600) {
        time = world.time
        world.transport.fallback = ScriptedReply { request throws(HTTPTransportError) in
            let number = self.asked.withLock { asked in
                asked.append((self.time.uptime(), request.form["refresh_token"] ?? ""))
                return asked.count
            }
            return try await ScriptedReply.tokens(
                accessToken: Sample.marker + "access-s\(number)", refreshToken: Sample.marker + "refresh-s\(number)",
                expiresIn: lifetime
            ).reply(to: request)
        }
    }

    var times: [Duration] { asked.withLock { $0.map(\.at) } }
    var tokens: [String] { asked.withLock { $0.map(\.token) } }
    var count: Int { asked.withLock { $0.count } }
}

extension World {
    static func profile(_ fields: String) throws -> ProviderRegistration {
        var registration = Sample.provider()
        let text = #"{"profile":1,"name":"own","source":[{"url":"u","read":"2026-01-31"}],\#(fields)}"#
        registration.profileDocument = Array(text.utf8)
        return registration
    }

    func addChains(_ count: Int, lifetime: Duration = .seconds(3_600)) async throws -> [LoginID] {
        var logins: [LoginID] = []
        for index in 0..<count {
            logins.append(try await addChain(user: "user-\(index)", name: "\(index)", lifetime: lifetime).id)
        }
        return logins
    }

    /// Runs a scheduler while `body` runs, and lets it finish.
    func scheduling<R: Sendable>(
        _ options: SchedulerOptions = .init(), with users: UserManager? = nil,
        _ body: (RenewalScheduler) async throws -> R
    ) async throws -> R {
        let scheduler = RenewalScheduler(users ?? self.users, options: options)
        let task = Task { try await scheduler.run() }
        let result: Result<R, any Error>
        do {
            result = .success(
                try await Self.$schedulers.withValue(Self.schedulers + [scheduler]) { try await body(scheduler) })
        } catch {
            result = .failure(error)
        }
        task.cancel()
        try await task.value
        return try result.get()
    }

    /// Lets time pass in steps, each after the code under test has come to rest, until something is true.
    func pass(
        upTo limit: Duration, step: Duration = .seconds(1), until condition: () -> Bool = { false }
    ) async {
        var passed = Duration.zero
        await settle()
        while !condition(), passed < limit {
            time.advance(by: step)
            passed += step
            await settle()
        }
    }

    /// Nothing happens any more until time passes.
    func settle() async {
        while !Self.schedulers.allSatisfy(\.hasBegun), !Task.isCancelled { await Task.yield() }
        await time.waitForRest()
    }

    /// Those that run in this task.
    @TaskLocal static var schedulers: [RenewalScheduler] = []
}
