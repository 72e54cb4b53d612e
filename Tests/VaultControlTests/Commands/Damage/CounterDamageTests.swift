import EngineSupport
import Foundation
import TestSupport
import Testing
import VaultControl

/// What counts without being sealed: it is found, stops nobody, and is mended by a command.
@Suite(.tags(.everyEngine))
struct CounterDamageTests {
    private static func rows(_ world: World) async throws -> [[String: Any]] {
        try #require(try await world.ok("damage", "list", "--json").json["damage"] as? [[String: Any]])
    }

    private static func doctor(_ world: World) async throws -> [[String: Any]] {
        let report = try await world.harness.run("doctor", "--json")
        #expect(report.status != 0)
        let findings = try #require(report.json["findings"] as? [[String: Any]])
        return findings.filter { $0["check"] as? String == "trail" && $0["level"] as? String == "problem" }
    }

    /// Finds one damaged row, goes on meanwhile, and discards it by the name under which it was found.
    private static func outlive(
        _ world: World, table: String, login: String, _ damage: (TableIntruder) throws -> Void
    ) async throws {
        try damage(try TableIntruder(world.harness.vault))
        let found = try await rows(world)
        #expect(found.count == 1 && found.first?["table"] as? String == table)
        let row = try #require(found.first?["row"] as? String)
        #expect(try await doctor(world).count == 1)
        #expect(try await world.harness.run("verify").status == ExitStatus.damaged.rawValue)
        try await world.ok("damage", "show", row)
        // Meanwhile the others go on.
        try await world.ok("login", "refresh", login)
        try await world.logIn("carol")
        try await world.ok("token", "get", "--user", "carol")
        #expect(try await rows(world).count == 1)
        #expect(try await world.harness.run("verify").status == ExitStatus.damaged.rawValue)
        try await world.ok("damage", "discard", row, "--confirm", row)
        try await world.ok("verify")
        #expect(try await rows(world).isEmpty)
        try await world.ok("login", "refresh", login)
        try await world.ok("verify")
    }

    @Test(arguments: [Int64.max, 1 << 62])
    func aCounterOfRenewalsThatIsNone(value: Int64) async throws {
        try await World.with { world in
            let login = try await world.logIn("bob")
            try await world.ok("login", "refresh", login)
            try await Self.outlive(world, table: "fenceCounter", login: login) { intruder in
                try intruder.execute(
                    TestEngine.isServer
                        ? #"UPDATE "engineState" SET "highestFence" = \#(value)"#
                        : "UPDATE sqlite_sequence SET seq = \(value)")
            }
        }
    }

    /// To a number that a vault reaches: the rows that ended renewals know better.
    @Test(arguments: [0, 1]) func aCounterOfRenewalsThatWasTurnedBack(value: Int) async throws {
        try await World.with { world in
            let login = try await world.logIn("bob")
            for _ in 0..<6 { try await world.ok("login", "refresh", login) }
            try await Self.outlive(world, table: "fenceCounter", login: login) { intruder in
                try intruder.execute(
                    TestEngine.isServer
                        ? #"UPDATE "engineState" SET "highestFence" = \#(value)"#
                        : "UPDATE sqlite_sequence SET seq = \(value)")
            }
        }
    }

    /// Numbers from the end of the trail on, or any.
    @Test(arguments: [
        (1, true), (2, true), (1_000, true), (.max, false), (.max - 1, false), (-3, false), (.min, false),
    ])
    func aPlantedRowOfTheTrail(number: Int64, isBehindEnd: Bool) async throws {
        try await World.with { world in
            let login = try await world.logIn("bob")
            try await Self.outlive(world, table: "audit", login: login) { intruder in
                let end = try intruder.text(#"SELECT max("sequence") FROM "audit""#).flatMap { Int64($0) }
                let sequence = try isBehindEnd ? #require(end) + number : number
                let bytes = String(repeating: "ab", count: 32)
                let link = TestEngine.isServer ? "decode('\(bytes)', 'hex')" : "x'\(bytes)'"
                try intruder.execute(
                    #"INSERT INTO "audit" ("sequence", "time", "kind", "mac") VALUES (\#(sequence), 0, 66, \#(link))"#)
            }
            let kinds = try await world.ok("audit", "list", "--json").output
            #expect(kinds.contains("rowSetAside") == (isBehindEnd))
        }
    }
}
