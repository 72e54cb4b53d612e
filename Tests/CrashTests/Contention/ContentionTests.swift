import DevAuthorizationServer
import Foundation
import OAuthClient
import TestSupport
import Testing
import VaultAdministration
import VaultStorage

@testable import TokenVault

/// Many callers, many processes, one vault.
@Suite(.serialized)
struct ContentionTests {
    private static let processes = 8

    @Test func aThousandCallersOfOneProcessShareOneRequest() async throws {
        let rounds = Depth.pick(brief: 5, nightly: 20, deep: 2_000)
        try await CrashWorld.with { world in
            let place = try await world.makeVault("one")
            let vault = try await place.open()
            let users = try await world.users(vault)
            let (login, grant) = try await world.addLogin(users, user: "user-0", .strict)
            for round in 1...rounds {
                let now = try await vault.login(login.id).generation
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<1_000 {
                        group.addTask { try await users.renewed(login.id, beyond: now).generation }
                    }
                    for try await generation in group { #expect(generation == now + 1) }
                }
                #expect(try world.grant(grant).refreshRequests == round)
            }
            await vault.close()
        }
        print("contention: \(rounds) rounds of 1000 callers in one process: \(rounds) requests")
    }

    @Test func callersOfEightProcessesShareOneRequest() async throws {
        let rounds = Depth.pick(brief: 5, nightly: 20, deep: 200)
        try await CrashWorld.with { world in
            let place = try await world.makeVault("eight")
            let vault = try await place.open()
            let users = try await world.users(vault)
            let zygotes = try (0..<Self.processes).map { _ in try Zygote() }
            for round in 0..<rounds {
                let grant = try await world.addExpiredLogin(users, user: "round-\(round)-0", .strict)
                let go = place.directory + "/go-\(round)"
                let jobs = try await zygotes.concurrently { zygote in
                    let job = try await zygote.start(
                        "callers",
                        place.arguments.merging([
                            "callers": "125", "users": "1", "prefix": "round-\(round)-", "go": go, "pause": "0",
                        ]) { $1 })
                    #expect(try await job.wait(for: "open"))
                    return job
                }
                _ = FileManager.default.createFile(atPath: go, contents: nil)
                for job in jobs {
                    #expect(try await job.wait() == .exit(0))
                    #expect(job.numbers("calls") == [125])
                    #expect(job.lines.filter { $0.hasPrefix("failed") || $0.hasPrefix("error") } == [])
                }
                let summary = try world.grant(grant)
                #expect(summary.refreshRequests == 1 && summary.rotated == 1)
            }
            #expect(try await vault.verify().findings == [])
            await vault.close()
        }
        print("contention: \(rounds) rounds of 1000 callers in \(Self.processes) processes: \(rounds) requests")
    }

    /// Each login is renewed every 200 ms, because resource servers refuse its token, while others read for long, check
    /// and copy.
    @Test func eightServicesRenewBesideReaders() async throws {
        let logins = 50
        let milliseconds = Depth.pick(brief: 5_000, nightly: 20_000, deep: 1_800_000)
        try await CrashWorld.with { world in
            let place = try await world.makeVault("storm")
            let vault = try await place.open()
            let users = try await world.users(vault)
            var grants: [(LoginID, String)] = []
            for number in 0..<logins {
                let (login, grant) = try await world.addLogin(users, user: "user-\(number)", .strict)
                grants.append((login.id, grant))
            }
            let end = place.directory + "/end"
            let readers = try await [
                Reading("read", ["hold": "2000"]), Reading("verify", [:]),
                Reading("backup", ["target": place.directory + "/copy.db"]),
            ].concurrently { try await $0.start(place, until: end) }
            let zygotes = try (0..<Self.processes).map { _ in try Zygote() }
            let services = try await zygotes.concurrently { zygote in
                try await zygote.start(
                    "callers",
                    place.arguments.merging([
                        "callers": "64", "users": "\(logins)", "milliseconds": "\(milliseconds)", "pause": "100",
                        "wear": "200",
                        "seconds": "\(milliseconds / 1_000 + 120)",
                    ]) { $1 })
            }
            let visits = try await self.visits(world, place, Depth.pick(brief: 100, nightly: 100, deep: 5_000))
            let wal = Peak(of: place)
            for job in services { #expect(try await job.wait() == .exit(0)) }
            _ = FileManager.default.createFile(atPath: end, contents: nil)
            for reader in readers { #expect(try await reader.job.wait() == .exit(0), "\(reader.name)") }
            let visited = try await visits.value
            let peak = await wal.stop()

            let summaries = world.server.grants
            let requests = summaries.reduce(0) { $0 + $1.refreshRequests }
            let rotations = summaries.reduce(0) { $0 + $1.rotated }
            #expect(requests == rotations)
            #expect(summaries.allSatisfy { $0.reuseDetected == 0 && !$0.isRevoked })
            for (login, grant) in grants {
                let stored = try await vault.store.login(login.handle)
                #expect(
                    TokenFingerprint.of(stored.refresh?.refreshToken) == (try world.grant(grant).currentRefreshToken))
                #expect(stored.intent == nil)
            }
            // However the strangers' snapshots overlap.
            #expect(peak < 64 << 20)
            let outcome = Outcome(services)
            // Neither a machine that is too busy to send in time, nor others who use up a new token before he can read it,
            // is a caller's trouble.
            #expect(outcome.errors == [:])
            for reader in readers { #expect(reader.job.lines.filter { $0.hasPrefix("finding") } == []) }
            #expect(try await vault.verify().findings == [])
            await vault.close()
            print(
                "contention: \(Self.processes) processes x 64 callers x \(logins) logins, \(milliseconds / 1000) s:",
                "\(outcome.calls) calls, \(requests) requests = \(rotations) rotations, errors \(outcome.errors),",
                "p99 of the waits \(Int(outcome.worstPercentile)) ms, longest \(Int(outcome.longest)) ms,",
                "WAL at most \(peak >> 20) MiB,",
                readers.map { "\(Int($0.job.numbers("done").first ?? 0)) x \($0.name)" }
                    .joined(separator: ", ") + ", \(visited) visits")
        }
    }

    /// Short runs that open and close the vault beside the services.
    private func visits(_ world: CrashWorld, _ place: CrashVault, _ count: Int) async throws -> Task<Int, any Error> {
        let zygote = try Zygote()
        return Task {
            for number in 0..<count {
                var options = place.arguments.merging(["user": "user-\(number % 50)"]) { $1 }
                if number.isMultiple(of: 5) { options["renew"] = "1" }
                let job = try await zygote.start("visit", options)
                #expect(try await job.wait() == .exit(0), "\(job.lines)")
            }
            return count
        }
    }
}

/// What the callers of all processes met.
private struct Outcome {
    var calls = 0
    var worstPercentile = 0.0
    var longest = 0.0
    var errors: [String: Int] = [:]

    init(_ jobs: [Job]) {
        for job in jobs {
            calls += Int(job.numbers("calls").first ?? 0)
            let waits = job.numbers("waits")
            if waits.count == 3 {
                worstPercentile = max(worstPercentile, waits[1])
                longest = max(longest, waits[2])
            }
            for line in job.lines where line.hasPrefix("failed ") {
                let words = line.split(separator: " ")
                errors[String(words[1]), default: 0] += Int(words[2]) ?? 0
            }
        }
    }
}

/// One that reads for as long as the storm lasts.
private struct Reading: Sendable {
    let name: String
    let options: [String: String]

    init(_ name: String, _ options: [String: String]) {
        self.name = name
        self.options = options
    }

    struct Running: Sendable {
        let name: String
        let job: Job
    }

    func start(_ place: CrashVault, until end: String) async throws -> Running {
        let job = try await Zygote().start(
            name, place.arguments.merging(options) { $1 }.merging(["until": end, "seconds": "3600"]) { $1 })
        #expect(try await job.wait(for: "open"))
        return Running(name: name, job: job)
    }
}

/// The most that a WAL had.
private final class Peak: Sendable {
    private let task: Task<Int, Never>

    init(of place: CrashVault) {
        task = Task.detached {
            var peak = 0
            while !Task.isCancelled {
                peak = max(peak, place.walBytes)
                try? await Task.sleep(for: .milliseconds(10))
            }
            return peak
        }
    }

    func stop() async -> Int {
        task.cancel()
        return await task.value
    }
}
