import DevAuthorizationServer
import Foundation
import Synchronization
import TestSupport
import Testing
import TokenVault
import VaultAdministration
import VaultStorage

/// The same as in ``RandomKillTests``, with a vault on a PostgreSQL server, which goes on when a process is killed.
@Suite(.serialized)
struct ServerKillTests {
    @Test func noPlaceOfARequestLosesAChainThatCanBeKept() async throws {
        try await CrashWorld.with { world in
            let course = try await CrashCourse(world, width: 6, on: PostgreSQLServer.shared())
            let cases = ServerBehaviour.allCases.flatMap { behaviour in
                CrashCase.Course.allCases.filter { Depth.current == .deep || $0 == .answers || behaviour == .strict }
                    .flatMap { course.everySeam(of: CrashCase(action: .refresh, behaviour: behaviour, course: $0)) }
            }
            let tally = try await course.run(cases)
            #expect(tally.problems == [])
            #expect(cases.count >= 70 && tally.killed >= cases.count * 3 / 4)
            print("crash points beside a server: \(cases.count) cases, \(tally.description)")
        }
    }

    @Test func aStoppedOwnerIsWaitedForAndNeverRobbed() async throws {
        try await CrashWorld.with { world in
            let course = try await CrashCourse(world, width: 6, on: PostgreSQLServer.shared())
            let cases = ServerBehaviour.allCases.flatMap { behaviour in
                CrashCase.seams.filter { $0 != "replyDelivered" }.map {
                    CrashCase(action: .refresh, behaviour: behaviour, strike: .seam($0, 1))
                }
            }
            #expect(try await StoppedOwnerTests.problems(cases, course) == [])
            print("stopped owners beside a server: \(cases.count) cases, no token sent twice")
        }
    }

    @Test func killsSpendNoTokenTwiceAndLoseNoChain() async throws {
        let kills = Depth.number("TOKENVAULT_SERVER_KILLS", or: Depth.pick(brief: 30, nightly: 100, deep: 5_000))
        let server = try PostgreSQLServer.shared().address(schema: PostgreSQLServer.newSchema())
        try await CrashWorld.with { world in
            let place = try await world.makeVault("server-kills", on: server)
            let logins = try await RandomKillTests.addLogins(place, world)
            let vault = try await place.open()
            let users = try await world.users(vault)
            let left = Mutex(kills)
            let zygotes = try (0..<4).map { _ in try Zygote() }
            try await zygotes.concurrently { zygote in
                while left.withLock({ count in
                    count -= 1
                    return count >= 0
                }) {
                    let job = try await zygote.start(
                        "worker", place.arguments.merging(["users": "\(logins.count)"]) { $1 })
                    guard try await job.wait(for: "open") else {
                        Issue.record("a worker ended before it had the vault open: \(job.lines)")
                        continue
                    }
                    try await Task.sleep(for: .milliseconds(Int.random(in: 1...200)))
                    job.send(SIGKILL)
                    #expect(try await job.wait() == .signal(SIGKILL))
                }
            }
            // Whatever was in doubt is asked for.
            for _ in 0..<2 { try await users.recover() }
            while try await !vault.diagnosis().openRenewals.isEmpty {
                try await Task.sleep(for: .milliseconds(50))
                try await users.recover()
            }
            let nurse = Nurse(world, users, logins)
            try await nurse.visit()
            let dead = nurse.dead
            let twice = world.server.grants.filter { $0.reuseDetected > 0 }
            #expect(dead.allSatisfy { $0.reason == .lostResponse && $0.provider == ServerBehaviour.strict.rawValue })
            #expect(twice.allSatisfy { $0.client == ServerBehaviour.strict.rawValue && $0.reuseDetected == 1 })
            #expect(dead.count == twice.count)
            for login in logins { _ = try await users.accessToken(for: .login(login), .renewed) }
            #expect(try await vault.verify().findings == [])
            let requests = world.server.grants.reduce(0) { $0 + $1.refreshRequests }
            await vault.close()
            print(
                "kills beside a server: \(kills) of 4 processes, \(requests) requests: 0 chains lost with grace,",
                "\(dead.count) without, each in the window that the server saw")
        }
    }

    @Test func callersOfEightProcessesShareOneRequest() async throws {
        let rounds = Depth.pick(brief: 2, nightly: 5, deep: 100)
        let server = try PostgreSQLServer.shared().address(schema: PostgreSQLServer.newSchema())
        try await CrashWorld.with { world in
            let place = try await world.makeVault("server-eight", on: server)
            let vault = try await place.open()
            let users = try await world.users(vault)
            let zygotes = try (0..<8).map { _ in try Zygote() }
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
        print("contention on a server: \(rounds) rounds of 1000 callers in 8 processes: \(rounds) requests")
    }
}
