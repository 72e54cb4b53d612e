import Foundation
import TokenVault
import TokenVaultTesting

/// `events-probe LOGINS…`: what an event costs a subscriber to all logins, in CPU time of the process, for vaults of so
/// many logins whose tokens live five minutes. A cost that grows with the vault is a fault.
///
/// The clock stands still but for steps, and rows are written through a second opening of the same file, which the first
/// does not notice before its clock moves: what is measured is the feed alone.
@main
struct EventsProbe {
    static func main() async throws {
        let counts = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        guard !counts.isEmpty, counts.count == CommandLine.arguments.count - 1 else {
            say("usage: events-probe LOGINS…")
            exit(64)
        }
        say("logins  window µs/login  due µs/event (events)  row µs/event (events)  peak MiB")
        for count in counts { try await Measurement(logins: count).run() }
    }
}

/// One vault, and one subscriber to all its logins.
private struct Measurement {
    private static let seconds = 300
    /// Rows of one measurement.
    private static let rows = 4_000

    private let count: Int
    private let time = ManualTimeSource()
    private let vault: TemporaryVault
    private let users: UserManager

    init(logins: Int) async throws {
        count = logins
        let options = VaultOptions(sessionEvents: SessionEventOptions(bufferLimit: 1 << 22))
        vault = try await TemporaryVault(in: .memory, timeSource: time, options: options)
        try await vault.vault.addProvider(Sample.provider())
        users = try await UserManager(
            vault: vault.vault, transport: ScriptedTransport(), options: .deterministic)
    }

    func run() async throws {
        let logins = try await addLogins()
        let other = try await UserManager(
            vault: vault.openAgain(), transport: ScriptedTransport(), options: .deterministic)
        var start = Self.processorTime()
        var events = users.events().makeAsyncIterator()
        try await rest()
        let window = Self.processorTime() - start

        // The first of these tokens expires in five minutes, and the warnings come three minutes before.
        let steps = 60
        let due = (0..<count).count { $0 % Self.seconds < steps }
        time.advance(by: .seconds(Self.seconds - 180 - 1))
        try await rest()
        start = Self.processorTime()
        for step in 0..<steps {
            time.advance(by: .seconds(1))
            for _ in 0..<(0..<count).count(where: { $0 % Self.seconds == step }) {
                guard case .willExpire? = await events.next(isolation: nil)?.kind else { exit(1) }
            }
        }
        let timed = Self.processorTime() - start

        let renewed = Array(
            stride(from: 0, to: count, by: max(1, count / Self.rows)).map { logins[$0] }.prefix(Self.rows))
        var rows = Duration.zero
        for round in 0..<(Self.rows / renewed.count) {
            try await renew(renewed, round, other)
            start = Self.processorTime()
            time.advance(by: .seconds(1))
            var updated = 0
            while updated < renewed.count, let event = await events.next(isolation: nil) {
                if event.kind == .updated { updated += 1 }
            }
            rows += Self.processorTime() - start
        }
        report(window, timed, due, rows, Self.rows / renewed.count * renewed.count)
        await vault.vault.close()
    }

    private func report(_ window: Duration, _ timed: Duration, _ due: Int, _ rows: Duration, _ updates: Int) {
        func each(_ duration: Duration, _ count: Int) -> String {
            String(format: "%.1f", duration / .microseconds(1) / Double(max(1, count)))
        }
        var usage = rusage()
        unsafe _ = getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        say(
            "\(count)  \(each(window, count))  \(each(timed, due)) (\(due))  \(each(rows, updates)) (\(updates))"
                + "  \(usage.ru_maxrss / 1_024)")
    }

    /// With tokens that expire evenly over five minutes, five minutes from now.
    private func addLogins() async throws -> [LoginID] {
        let workers = 512
        let now = time.now()
        return try await withThrowingTaskGroup(of: [(Int, LoginID)].self) { group in
            for worker in 0..<min(workers, count) {
                group.addTask {
                    var mine: [(Int, LoginID)] = []
                    for number in stride(from: worker, to: count, by: workers) {
                        let login = try await users.addLogin(
                            userId: "user-\(number)", provider: "acme", accessToken: Sample.accessToken("\(number)"),
                            expiresAt: now.addingTimeInterval(Double(Self.seconds + number % Self.seconds)),
                            refreshToken: Sample.refreshToken("\(number)"))
                        mine.append((number, login.id))
                    }
                    return mine
                }
            }
            var all: [(Int, LoginID)] = []
            for try await some in group { all += some }
            return all.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private func renew(_ logins: [LoginID], _ round: Int, _ other: UserManager) async throws {
        let expiresAt = time.now().addingTimeInterval(Double(Self.seconds))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for login in logins {
                group.addTask {
                    _ = try await other.updateAccessToken(
                        for: .login(login), accessToken: Sample.accessToken("renewed-\(round)"), expiresAt: expiresAt)
                }
            }
            try await group.waitForAll()
        }
    }

    /// Until the feed waits for its clock. `ManualTimeSource.waitForRest()` would use processor time itself.
    private func rest() async throws {
        repeat { try await Task.sleep(for: .milliseconds(50)) } while !time.isAtRest
    }

    private static func processorTime() -> Duration {
        var time = timespec()
        unsafe _ = clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}

/// Each line at once: the next vault takes a while.
private func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
