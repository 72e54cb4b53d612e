import FoundationEssentials
import OAuthClient
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultStorage

@testable import TokenVault

/// What the app calls a login, and how it finds it again.
struct DescribingTests {
    private func ids(_ world: World, _ filter: LoginFilter, pageSize: Int = 500) async throws -> Set<LoginID> {
        var found: Set<LoginID> = []
        for try await entry in world.vault.logins(where: filter, pageSize: pageSize) { found.insert(entry.id) }
        return found
    }

    @Test func aLabelCanBeChangedInEveryState() async throws {
        let world = try await World()
        let login = try await world.addChain()
        #expect(try await world.users.setLabel("work", of: .login(login.id)).label == "work")
        try await world.kill(login)
        #expect(try await world.users.setLabel("old work", of: .user("alice")).label == "old work")
        #expect(try await world.vault.login(login.id).failure != nil)
        #expect(try await world.users.setLabel(nil, of: .login(login.id)).label == nil)
        await #expect(try world.tale().suffix(3).allSatisfy { $0.hasPrefix("login") || $0.hasPrefix("failure") })
        await #expect(try world.tale().contains("loginDescribed what=label"))
        let long = String(repeating: "x", count: 1_025)
        #expect(await code { try await world.users.setLabel(long, of: .login(login.id)) } == .invalidArgument)
        #expect(try await world.vault.verify().isClean)
    }

    @Test func aRenewalUnderWayKeepsTheLabelThatCameMeanwhile() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let gate = Gate()
        world.transport.enqueue(.generation("2").behind(gate))
        let caller = Task { try await world.users.accessToken(for: .login(login.id), .renewed).name }
        await world.transport.waitForRequests(1)
        try await world.users.setLabel("work", of: .login(login.id))
        try await world.users.setMetadata(["team": "42"], of: .login(login.id))
        gate.open()
        #expect(try await caller.value == "2")
        let stored = try await world.vault.login(login.id)
        #expect(stored.label == "work")
        #expect(stored.metadata == ["team": "42"])
    }

    @Test func metadataIsMergedAndBounded() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let ref = LoginRef.login(login.id)
        try await world.users.setMetadata(["a": "1", "b": "2"], of: ref)
        #expect(try await world.users.setMetadata(["a": nil, "c": ""], of: ref).metadata == ["b": "2", "c": ""])
        let wrong: [[String: String?]] = [
            Dictionary(uniqueKeysWithValues: (0..<15).map { ("k\($0)", "") }), ["": "x"],
            [String(repeating: "k", count: 65): ""], ["k": String(repeating: "x", count: 4_096)],
        ]
        for changes in wrong {
            #expect(await code { try await world.users.setMetadata(changes, of: ref) } == .invalidArgument)
        }
        #expect(try await world.vault.login(login.id).metadata == ["b": "2", "c": ""])
        let again = try await world.anotherProcess()
        #expect(try await again.vault.login(login.id).metadata == ["b": "2", "c": ""])
        // The trail says that it was changed, and not to what.
        await #expect(try world.tale().filter { $0.hasPrefix("loginDescribed") }.count == 2)
        await again.vault.close()
    }

    @Test func changesThatChangeNothingLeaveNoTrace() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let head = try await world.vault.auditHead()
        try await world.users.setLabel(nil, of: .login(login.id))
        try await world.users.setMetadata(["a": nil], of: .login(login.id))
        #expect(try await world.vault.auditHead() == head)
    }

    @Test func loginsAreFoundByEveryCriterion() async throws {
        let world = try await World()
        try await world.vault.addProvider(Sample.provider(name: "other"))
        let one = try await world.addChain(user: "alice", name: "1")
        let two = try await world.addChain(user: "bob", name: "2", lifetime: .seconds(600))
        let three = try await world.users.addLogin(
            userId: "carol", provider: "other", accessToken: Sample.accessToken("3"), label: "work calendar")
        try await world.users.setMetadata(["team": "42", "x": "y"], of: .login(two.id))
        try await world.kill(one)
        var filter = LoginFilter()
        #expect(filter.isEmpty)
        #expect(try await ids(world, filter, pageSize: 1) == [one.id, two.id, three.id])
        #expect(try await ids(world, LoginFilter(provider: "acme")) == [one.id, two.id])
        #expect(try await ids(world, LoginFilter(userId: "bob")) == [two.id])
        #expect(try await ids(world, LoginFilter(standings: [.dead])) == [one.id])
        #expect(try await ids(world, LoginFilter(standings: [.established, .dead])).count == 3)
        #expect(try await ids(world, LoginFilter(label: "work calendar")) == [three.id])
        #expect(try await ids(world, LoginFilter(label: "work")).isEmpty)
        #expect(try await ids(world, LoginFilter(metadata: ["team": "42"])) == [two.id])
        #expect(try await ids(world, LoginFilter(metadata: ["team": "42", "x": "z"])).isEmpty)
        filter.labelPrefix = "work"
        #expect(try await ids(world, filter) == [three.id])
        filter = LoginFilter()
        filter.diedBefore = world.now
        #expect(try await ids(world, filter).isEmpty)
        filter.diedBefore = world.now.addingTimeInterval(1)
        #expect(try await ids(world, filter) == [one.id])
        filter = LoginFilter(provider: "acme")
        filter.expiresBefore = world.now.addingTimeInterval(601)
        #expect(try await ids(world, filter) == [two.id])
        #expect(await code { try await ids(world, LoginFilter(provider: "no")) } == .unknownProvider)
        #expect(await code { try await ids(world, LoginFilter(userId: "no")) } == .unknownUser)
        let counts = try await world.vault.loginCounts(where: LoginFilter())
        #expect(counts.logins == 3)
        #expect(counts.byStanding == [.dead: 1, .established: 2])
        #expect(counts.byProvider == ["acme": 2, "other": 1])
    }

    @Test func standingsAreToldApart() async throws {
        let world = try await World()
        let login = try await world.addChain()
        func standing() async throws -> LoginStanding { try await world.vault.login(login.id).standing }
        #expect(try await standing() == .established)
        try await world.leaveIntent(login, inDoubt: true)
        #expect(try await standing() == .inDoubt)
        try await world.set(login, lifetime: .seconds(3_600))
        world.transport.enqueue(.error("interaction_required"))
        try await world.vault.store.updateLogin(login.id.handle) { $0.intent = nil }
        _ = try? await world.users.accessToken(for: .login(login.id), .renewed)
        #expect(try await standing() == .needsUser)
        try await world.set(login, lifetime: .seconds(60))
        world.expire()
        #expect(try await standing() == .expired)
        try await world.kill(login)
        #expect(try await standing() == .dead)
        try await world.users.terminate(.login(login.id), reason: .unauthorized)
        #expect(try await standing() == .terminated)
    }
}
