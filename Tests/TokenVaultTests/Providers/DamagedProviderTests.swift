import EngineSupport
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultStorage

@testable import TokenVault

/// What the library does with rows that cannot be opened.
@Suite(.tags(.everyEngine))
struct DamagedProviderTests {
    private func damage(_ world: World, _ table: String, row: Int64 = 1) throws {
        try world.temporary.intruder().flip(table, "cell", row: row, atEnd: true)
    }

    @Test func tokensOfADamagedProviderWaitForItInTheOutbox() async throws {
        let world = try await World()
        let login = try await world.addChain()
        try damage(world, "provider")
        let report = try await world.users.logOut(.login(login.id))
        #expect(!report.isComplete)
        #expect(world.transport.requestCount == 0)
        #expect(try await world.vault.status().pendingRevocations == 1)
        let row = try #require(try await world.vault.damage().first)
        #expect(row.table == .provider)
        try await world.vault.addProvider(Sample.provider(), replacingDamaged: row.name)
        world.transport.fallback = .status(.ok)
        #expect(try await world.users.retryRevocations(.all).results.map(\.outcome) == [.revoked])
        #expect(world.transport.requests.last?.form["token"] == "CANARY-refresh-1")
        #expect(try await world.vault.verify().isClean)
    }

    @Test func aProviderInUseIsReplacedAndItsLoginsGoOn() async throws {
        let world = try await World()
        try await world.addChain()
        try damage(world, "provider")
        let row = try #require(try await world.vault.damage().first)
        #expect(await code { try await world.vault.discardDamagedRow(row.name) } == .inUse)
        world.expire()
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .quarantined)
        try await world.vault.addProvider(Sample.provider(), replacingDamaged: row.name)
        world.transport.enqueue(.generation("2"))
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
        #expect(
            await code { try await world.vault.addProvider(Sample.provider(), replacingDamaged: row.name) } == .conflict
        )
        #expect(try await world.vault.verify().isClean)
    }

    @Test func readinessWarnsOfADamagedProvider() async throws {
        let world = try await World()
        #expect(try await world.vault.checkReadiness().isEmpty)
        try damage(world, "provider")
        let warnings = try await world.vault.checkReadiness()
        #expect(warnings.map(\.code) == [.quarantined])
        #expect(try await world.vault.providerEntries().count == 1)
        guard case .damaged(let handle, let problem)? = try await world.vault.providerEntries().first else {
            Issue.record("the damaged provider is not listed")
            return
        }
        #expect(problem.contains(handle))
    }

    @Test func erasingADamagedUserReportsWhatCouldNotBeRevoked() async throws {
        let world = try await World()
        let logins = Set([try await world.addChain().id, try await world.addChain(name: "2").id])
        try damage(world, "user")
        #expect(await code { try await world.users.disableUser("alice") } == .quarantined)
        let report = try await world.users.eraseUser("alice")
        #expect(Set(report.results.map(\.login)) == logins)
        #expect(report.results.allSatisfy { $0.outcome == .unreadable } && !report.isComplete)
        #expect(await code { try await world.vault.user("alice") } == .unknownUser)
        #expect(await code { try await world.users.eraseUser("alice") } == .unknownUser)
        #expect(try await world.addChain(name: "3").userId == "alice")
        #expect(try await world.users.accessToken(userId: "alice").name == "3")
        #expect(try await world.vault.verify().isClean)
    }

    @Test(arguments: [false, true]) func endingAUserReportsADamagedLogin(isErased: Bool) async throws {
        let world = try await World()
        let damaged = try await world.addChain()
        let whole = try await world.addChain(name: "2")
        try damage(world, "login")
        world.transport.fallback = .status(.ok)
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
        let report = try await isErased ? world.users.eraseUser("alice") : world.users.disableUser("alice")
        let outcomes = Dictionary(uniqueKeysWithValues: report.results.map { ($0.login, $0.outcome) })
        #expect(outcomes == [damaged.id: .unreadable, whole.id: .revoked])
        #expect(try await world.vault.damage().isEmpty == isErased)
        if !isErased { try await world.vault.discardDamagedLogin(damaged.id) }
        #expect(try await world.vault.verify().isClean)
    }

    @Test func discardingALoginIsHeardByThoseWhoWatchIt() async throws {
        let world = try await World()
        let login = try await world.addChain()
        try damage(world, "login")
        let report = try await world.vault.discardDamagedLogin(login.id)
        #expect(report.results == [.init(login: login.id, outcome: .unreadable)])
        await #expect(try world.users.sessionState(of: .login(login.id)) == .notLoggedIn)
        let told = try await world.vault.pastEvents(login: login.id, userId: nil, limit: 10)
        let ends = told.filter { $0.kind == .stateChanged(.notLoggedIn) }
        #expect(ends.count == 1)
        #expect(await code { try await world.vault.discardDamagedLogin(login.id) } == .unknownRow)
    }

    @Test func whatIsShownOfARowIsSealed() async throws {
        let world = try await World()
        try await world.addChain()
        try damage(world, "login")
        let row = try #require(try await world.vault.damage().first)
        let content = try await world.vault.damagedRow(row.name)
        #expect(row.userId == "alice" && row.providerName == "acme")
        #expect(content.rows.map(\.table) == ["login", "loginSecret"] && content.loginCount == 1)
        #expect(content.hash.count == 32)
        for column in content.rows.flatMap(\.columns) {
            guard case .blob(let bytes) = column.value else { continue }
            #expect(!String(decoding: bytes, as: UTF8.self).contains(Sample.marker))
        }
        #expect(DamagedRowName(row.name.description) == row.name)
    }
}
