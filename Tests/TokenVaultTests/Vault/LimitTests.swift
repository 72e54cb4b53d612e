import FoundationEssentials
import OAuthClient
import TestSupport
import Testing
import TokenVaultTesting
import VaultStorage

@testable import TokenVault

/// Numbers, dates and texts that come from elsewhere.
struct LimitTests {
    @Test(arguments: [Int.min, -1, 0, 10_001, .max])
    func noLimitTraps(limit: Int) async throws {
        let world = try await World()
        let login = try await world.addChain()
        let count = limit > 0 ? 1 : 0
        await #expect(try world.vault.userPage(limit: limit).entries.count == count)
        await #expect(try world.vault.logins(limit: limit).count == count)
        await #expect(try world.vault.logins(ofUser: "alice", limit: limit).count == count)
        await #expect(try world.vault.pendingRevocations(limit: limit).entries.isEmpty)
        await #expect(try world.vault.pastEvents(login: nil, userId: nil, limit: limit).count == count)
        for selection in [UserManager.RevocationSelection.due, .all, .only([])] {
            #expect(try await world.users.retryRevocations(selection, limit: limit).results.isEmpty)
        }
        #expect(login.userId == "alice")
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, .signalingNaN])
    func anEndThatIsNoPointInTimeIsRefused(seconds: Double) async throws {
        let world = try await World()
        let login = try await world.addChain()
        let end = Date(timeIntervalSince1970: seconds)
        let refused = await code {
            try await world.users.updateAccessToken(
                for: .login(login.id), accessToken: Sample.accessToken("2"), expiresAt: end)
        }
        #expect(refused == .invalidArgument)
        let added = await code {
            try await world.users.addLogin(userId: "bob", accessToken: Sample.accessToken("3"), expiresAt: end)
        }
        #expect(added == .invalidArgument)
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "1")
        #expect(await code { try await world.vault.user("bob") } == .unknownUser)
    }

    @Test(arguments: [1e10, 1e13, 1e300])
    func anEndThatIsFarAwayIsTenYearsAway(seconds: Double) async throws {
        let world = try await World()
        let login = try await world.addChain()
        let tenYears = world.now.addingTimeInterval(315_360_000)
        try await world.users.updateAccessToken(
            for: .login(login.id), accessToken: Sample.accessToken("2"), expiresAt: Date(timeIntervalSince1970: seconds)
        )
        #expect(try await world.users.accessToken(for: .login(login.id)).expiresAt == tenYears)
        let added = try await world.users.addLogin(
            userId: "bob", accessToken: Sample.accessToken("3"), expiresAt: Date(timeIntervalSince1970: seconds))
        #expect(added.expiresAt == tenYears)
    }

    /// A handler's answer with such an end is no new token: it is asked again later.
    @Test func aHandlersTokenWithoutAUsableEndIsNoToken() async throws {
        #expect(GivenExpiry(Date(timeIntervalSince1970: .nan), now: .init(milliseconds: 0)) == .unusable)
        #expect(GivenExpiry(nil, now: .init(milliseconds: 0)) == .unknown)
        let handler = RecordingHandler()
        let world = try await World(handler: handler)
        let login = try await world.addPlainLogin()
        world.expire()
        handler.enqueue(RecordingHandler.token("2", expiresAt: Date(timeIntervalSince1970: .nan)))
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } != nil)
        await #expect(try world.vault.login(login.id).failure == nil)
    }

    @Test func aDateThatIsNoNumberLiesInThePast() {
        #expect(Timestamp(Date(timeIntervalSince1970: .nan)).milliseconds == -(1 << 53))
        #expect(Timestamp(Date(timeIntervalSince1970: .infinity)).milliseconds == 1 << 53)
        #expect(Timestamp(Date(timeIntervalSince1970: 1e14)).milliseconds == 1 << 53)
    }

    /// What hangs on nothing but the writer's last operation is let go of there.
    @Test func aVaultThatIsDroppedEnds() async throws {
        let world = try await World()
        let owner = try await Self.dropVault(of: world)
        let store = world.vault.store
        try await eventually { !store.showsAlive(owner) }
    }

    private static func dropVault(of world: World) async throws -> Int64 {
        let (vault, users) = try await world.anotherProcess()
        _ = try await users.addLogin(userId: "bob", accessToken: Sample.accessToken("1"))
        return vault.store.owner
    }
}
