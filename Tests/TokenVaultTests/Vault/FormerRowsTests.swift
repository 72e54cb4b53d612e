import EngineSupport
import FoundationEssentials
import OAuthClient
import TestSupport
import Testing
import TokenVault
import TokenVaultTesting
import VaultStorage

/// Rows of one user as they once were, put back by someone who kept a copy, and read by a process that has seen nothing.
@Suite(.tags(.everyEngine)) struct FormerRowsTests {
    private static var seeds: Int { Depth.pick(brief: TestEngine.isServer ? 8 : 15, nightly: 60, deep: 500) }
    /// Each of the user's rows but those of the trail.
    private static let tables = ["user", "login", "loginSecret", "manifestPart", "refreshIntent"]

    @Test func noFormerRowIsBelievedByAFreshProcess() async throws {
        var (same, refused) = (0, 0)
        for seed in 0..<Self.seeds {
            let counts = try await Self.attack(SeededGenerator(seed: UInt64(seed)))
            (same, refused) = (same + counts.same, refused + counts.refused)
        }
        // Both happen, so neither is all that there is.
        #expect(same > Self.seeds && refused > Self.seeds)
    }

    /// The last word counts also where the trail no longer has a word.
    @Test func anErasedUserStaysErasedAfterThePruning() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let intruder = try world.temporary.intruder()
        try intruder.keepRows(of: Self.tables)
        _ = try await world.users.eraseUser("alice")
        try await world.addChain(user: "bob")
        _ = try await world.users.eraseUser("bob")
        let pruned = try await world.vault.store.pruneTrail(TrailLimits(before: nil, keepingLast: 1), size: 500)
        #expect(pruned.removed > 0)
        let told = #"SELECT count(*) FROM "audit" WHERE "user" = (SELECT "handle" FROM "user")"#
        try intruder.restoreRows(of: Self.tables)
        #expect(try intruder.text(told) == "0")
        let (vault, users) = try await world.anotherProcess()
        #expect(await code { try await users.validAccessToken(for: .user("alice")) } == .rollbackSuspected)
        #expect(await code { try await users.validAccessToken(for: .login(login.id)) } == .rollbackSuspected)
        await vault.close()
    }

    // MARK: One attack

    private static func attack(_ generator: SeededGenerator) async throws -> (same: Int, refused: Int) {
        var generator = generator
        let world = try await World()
        try await world.addChain(user: "bob", name: "bob")
        var ids: [LoginID] = []
        let intruder = try world.temporary.intruder()
        let moments = Int.random(in: 1...5, using: &generator)
        for moment in 0...moments {
            try await change(world, &ids, "m\(moment)", &generator)
            if moment < moments { try intruder.keepRows(of: tables, at: "\(moment)") }
        }
        let before = try await read(world, ids)
        let chosen = tables.filter { _ in Bool.random(using: &generator) }
        try intruder.restoreRows(
            of: chosen.isEmpty ? tables : chosen, from: "\(Int.random(in: 0..<moments, using: &generator))")
        let after = try await read(world, ids.shuffled(using: &generator))
        var counts = (same: 0, refused: 0)
        for (reading, outcome) in after {
            if outcome == before[reading] {
                counts.same += 1
            } else {
                // Rows that are gone are a user or login that is not there.
                #expect(
                    outcome.hasPrefix("error") || outcome == "notLoggedIn",
                    "\(reading): \(outcome) instead of \(before[reading] ?? "nothing")")
                counts.refused += 1
            }
        }
        #expect(after["token of bob"] == "bob")
        await world.vault.close()
        return counts
    }

    /// One to three changes of alice.
    private static func change(
        _ world: World, _ ids: inout [LoginID], _ name: String, _ generator: inout SeededGenerator
    ) async throws {
        for step in 0..<Int.random(in: 1...3, using: &generator) {
            let login = ids.randomElement(using: &generator)
            let name = "\(name).\(step)"
            // What cannot be done in this state is left out.
            do {
                switch (Int.random(in: 0..<8, using: &generator), login) {
                case (0, _): _ = try await world.users.disableUser("alice")
                case (1, _): try await world.users.enableUser("alice")
                case (2, _): _ = try await world.users.eraseUser("alice")
                case (3, let login?): try await world.users.logOut(.login(login), revokes: false)
                case (4, let login?), (5, let login?):
                    try await world.users.updateAccessToken(
                        for: .login(login), accessToken: Sample.accessToken(name),
                        expiresAt: world.now.addingTimeInterval(3_600))
                default: ids.append(try await world.addChain(name: name).id)
                }
            } catch is VaultError {}
        }
    }

    /// Every public read, each by a process that has read nothing yet.
    private static func read(_ world: World, _ ids: [LoginID]) async throws -> [String: String] {
        var outcomes: [String: String] = [:]
        for readings in try await [userReadings(world), loginReadings(world, ids), listings(world)] {
            outcomes.merge(readings) { first, _ in first }
        }
        return outcomes
    }

    private static func userReadings(_ world: World) async throws -> [String: String] {
        let (vault, users) = try await world.anotherProcess()
        let outcomes = [
            "token of alice": await said { try await users.accessToken(userId: "alice").name },
            "valid token": await said { try await users.validAccessToken(for: .user("alice"))?.name ?? "none" },
            "state": await said { "\(try await users.sessionState(of: .user("alice")))" },
            "user": await said { "\(try await vault.user("alice"))" },
            "token of bob": await said { try await users.accessToken(userId: "bob").name },
        ]
        await vault.close()
        return outcomes
    }

    private static func loginReadings(_ world: World, _ ids: [LoginID]) async throws -> [String: String] {
        let (vault, users) = try await world.anotherProcess()
        var outcomes: [String: String] = [:]
        for id in ids {
            outcomes["login \(id)"] = await said { "\(try await vault.login(id))" }
            outcomes["token \(id)"] = await said { try await users.accessToken(for: .login(id)).name }
            outcomes["state \(id)"] = await said { "\(try await users.sessionState(of: .login(id)))" }
            outcomes["phase \(id)"] = await said {
                "\(String(describing: try await users.sessionPhase(of: .login(id))))"
            }
        }
        await vault.close()
        return outcomes
    }

    private static func listings(_ world: World) async throws -> [String: String] {
        let (vault, _) = try await world.anotherProcess()
        var outcomes: [String: String] = [:]
        for user in ["alice", nil] {
            let entries = (try? await vault.logins(ofUser: user)) ?? []
            for entry in entries {
                switch entry {
                case .login(let login): outcomes["\(user ?? "all"): \(login.id)"] = "\(login)"
                case .damaged(let id, _): outcomes["\(user ?? "all"): \(id)"] = "error"
                }
            }
        }
        for case .user(let user) in try await vault.userPage().entries { outcomes["listed \(user.id)"] = "\(user)" }
        await vault.close()
        return outcomes
    }

    private static func said(_ read: () async throws -> String) async -> String {
        do { return try await read() } catch {
            return "error \((error as? VaultError)?.code.description ?? "\(error)")"
        }
    }
}
