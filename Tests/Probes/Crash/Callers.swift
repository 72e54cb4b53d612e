import Synchronization
import TokenVault

/// Many callers of one service, each of which asks for the token of one of the users, again and again. Prints how often and
/// how long they waited, and which errors they got.
final class Callers: Sendable {
    private struct Tally {
        var calls = 0
        var waits: [Double] = []
        var errors: [String: Int] = [:]
    }

    private let options: Options
    private let tally = Mutex(Tally())
    private let firstSeen = Mutex<[LoginID: (generation: Int, time: ContinuousClock.Instant)]>([:])

    init(_ options: Options) { self.options = options }

    func run() async throws {
        let service = try await Service(options, recovery: .seconds(2))
        say("open")
        // All processes begin at once, whenever the last one is ready.
        if options.text("go") != nil { try await waitForFile(options.required("go")) }
        let callers = options.integer("callers", or: 64)
        let end = ContinuousClock.now + .milliseconds(options.integer("milliseconds", or: 0))
        await withTaskGroup { group in
            for _ in 0..<callers {
                group.addTask { await self.call(service.users, until: end) }
            }
        }
        await service.close()
        report()
    }

    private func call(_ users: UserManager, until end: ContinuousClock.Instant) async {
        let count = options.integer("users", or: 1)
        let pause = options.integer("pause", or: 20)
        let prefix = options.text("prefix") ?? "user-"
        repeat {
            let user = prefix + "\(Int.random(in: 0..<count))"
            let start = ContinuousClock.now
            do {
                let token = try await users.accessToken(userId: user)
                if isWorn(token) { try await users.reportRejected(token) }
                note(start.duration(to: .now), nil)
            } catch {
                note(start.duration(to: .now), name(of: error))
            }
            if pause > 0 { try? await Task.sleep(for: .milliseconds(Int.random(in: 0..<pause))) }
        } while ContinuousClock.now < end
    }

    /// Whether this token has been seen here for so long that a resource server would refuse it.
    private func isWorn(_ token: VaultToken) -> Bool {
        guard let wear = options.text("wear").flatMap({ Int($0) }) else { return false }
        let now = ContinuousClock.now
        return firstSeen.withLock { table in
            guard let known = table[token.login], known.generation >= token.generation else {
                table[token.login] = (token.generation, now)
                return false
            }
            return known.generation == token.generation && now - known.time > .milliseconds(wear)
        }
    }

    private func note(_ wait: Duration, _ error: String?) {
        tally.withLock { tally in
            tally.calls += 1
            // Of those that waited for a renewal; reads take microseconds.
            if wait > .milliseconds(2) { tally.waits.append(wait / .milliseconds(1)) }
            if let error { tally.errors[error, default: 0] += 1 }
        }
    }

    private func report() {
        let tally = tally.withLock { $0 }
        let waits = tally.waits.sorted()
        say("calls \(tally.calls)")
        if let last = waits.last { say("waits \(waits.count) \(waits[waits.count * 99 / 100]) \(last)") }
        for (code, count) in tally.errors { say("failed \(code) \(count)") }
    }

    private func waitForFile(_ path: String) async throws {
        while !Files.exist(path) { try await Task.sleep(for: .milliseconds(2)) }
    }
}
