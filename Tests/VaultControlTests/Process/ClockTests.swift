import DevAuthorizationServer
import EngineSupport
import Foundation
import Glibc
import TestSupport
import Testing
import VaultControl

/// The clock of a machine is set while a service runs: by NTP, after a machine was resumed, by hand.
@Suite(.tags(.everyEngine))
struct ClockTests {
    private static func compile(in harness: Harness) throws -> String {
        let source = Installation.root + "/scripts/proofs/fleet/clock.c"
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments = ["cc", "-shared", "-fPIC", "-o", harness.path("clock.so"), source, "-ldl"]
        try compiler.run()
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0)
        return harness.path("clock.so")
    }

    /// An hour ahead, then put right, then behind, then right again: renewals go on after each step.
    @Test func renewalsGoOnWhenTheClockIsSet() async throws {
        try await World.with({ $0.accessTokenLifetime = .seconds(5) }) { world in
            let users = ["alice", "bob", "carol"]
            for user in users { try await world.logIn(user) }
            try world.harness.file("ahead", "3600")
            let maintainer = try Maintainer(
                world.harness,
                ["LD_PRELOAD": try Self.compile(in: world.harness), "TEST_CLOCK": world.harness.path("ahead")])
            for ahead in ["3600", "0", "-3600", "0"] {
                // As a whole: the shim may read it at any moment.
                try world.harness.file("next", ahead)
                let isSet = unsafe rename(world.harness.path("next"), world.harness.path("ahead")) == 0
                try #require(isSet)
                // What was under way when it was set is over when all have been renewed once.
                let target = world.refreshes + 2 * users.count
                let start = ContinuousClock.now
                while world.refreshes < target {
                    try #require(maintainer.process.isRunning, "\(maintainer.words)")
                    // Long before an hour is over.
                    try #require(start.duration(to: .now) < .seconds(600), "\(ahead): \(maintainer.words)")
                    try await Task.sleep(for: .milliseconds(50))
                }
                print("clock \(ahead): renewed twice after \(start.duration(to: .now))")
            }
            kill(maintainer.process.processIdentifier, SIGTERM)
            #expect(await maintainer.end() == 0)
            let states = try #require(try await world.ok("status", "--json").json["states"] as? [[String: Any]])
            #expect(states.first?["dead"] as? Int == 0)
            try await world.ok("verify")
        }
    }
}
