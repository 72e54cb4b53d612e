import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultStorage

@testable import TokenVault

/// What a log-out says of grants that cannot be ended with what is left of them.
struct LogOutScopeTests {
    /// A provider whose grant ends with its access token, as GitHub's does.
    private func world(target: String = "accessToken") async throws -> World {
        try await World(provider: World.profile(#""revocation":{"target":"\#(target)"}"#))
    }

    private func revoked(_ world: World) -> [String?] {
        world.transport.requests.filter { $0.path == "/revoke" }.map { $0.form["token"] }
    }

    @Test func expiredAccessTokenIsRenewedToEndTheGrant() async throws {
        let world = try await world()
        let login = try await world.addChain()
        world.expire()
        world.transport.enqueue(.generation("2"), .status(.ok))
        let report = try await world.users.logOut(.login(login.id))
        #expect(report.results.map(\.outcome) == [.revoked])
        #expect(world.transport.requests.map(\.path) == ["/token", "/revoke"])
        #expect(revoked(world) == ["CANARY-access-2"])
        #expect(try await world.vault.status().logins == 0)
    }

    @Test func oneThatCannotBeRenewedIsNotToldAsRevoked() async throws {
        let world = try await world()
        let login = try await world.addChain()
        world.expire()
        world.transport.enqueue(.status(.tooManyRequests))
        let report = try await world.users.logOut(.login(login.id))
        #expect(report.results.map(\.outcome) == [.unsupported])
        #expect(revoked(world).isEmpty)
        #expect(try await world.vault.status().logins == 0)
    }

    @Test func oneThatIsGoodIsRevokedWithoutARenewal() async throws {
        let world = try await world()
        let login = try await world.addChain()
        world.transport.enqueue(.status(.ok))
        #expect(try await world.users.logOut(.login(login.id)).results.map(\.outcome) == [.revoked])
        #expect(revoked(world) == ["CANARY-access-1"])
    }

    /// Nobody waits for renewals of all logins of a user who is to be gone.
    @Test func disablingAUserSaysThatItsGrantLivesOn() async throws {
        let world = try await world()
        try await world.addChain()
        world.expire()
        #expect(try await world.users.disableUser("alice").results.map(\.outcome) == [.unsupported])
        #expect(world.transport.requestCount == 0)
    }

    @Test func aRenewalThatHangsHoldsALogOutForTenSeconds() async throws {
        let world = try await world()
        let login = try await world.addChain()
        let gate = Gate()
        world.expire()
        world.transport.enqueue(.generation("2").behind(gate))
        let logOut = Task { try await world.users.logOut(.login(login.id)) }
        await world.transport.waitForRequests(1)
        await world.time.waitForSleepers()
        world.time.advance(by: .seconds(10))
        #expect(try await logOut.value.results.map(\.outcome) == [.unsupported])
        // What comes late for it is revoked by itself.
        world.transport.fallback = .status(.ok)
        gate.open()
        await world.transport.waitForRequests(2)
        while try await world.vault.status().pendingRevocations > 0, !Task.isCancelled { await Task.yield() }
    }

    // MARK: A login that died

    private func dead(_ reason: RefreshFailure.Reason, in world: World) async throws -> Login {
        let login = try await world.addChain()
        try await world.vault.change(login.id.handle) { [vault = world.vault] state in state.die(reason, at: vault.now)
        }
        return login
    }

    @Test func logOutAfterALostResponseRevokesTheAccessToken() async throws {
        let world = try await World()
        let login = try await dead(.lostResponse, in: world)
        world.transport.enqueue(.status(.ok))
        #expect(try await world.users.logOut(.login(login.id)).results.map(\.outcome) == [.unsupported])
        #expect(revoked(world) == ["CANARY-access-1"])
    }

    @Test func logOutAfterALostResponseMayHaveNothingToRevoke() async throws {
        let world = try await World()
        let login = try await dead(.lostResponse, in: world)
        world.expire()
        #expect(try await world.users.logOut(.login(login.id)).results.map(\.outcome) == [.unsupported])
        #expect(world.transport.requestCount == 0)
    }

    @Test func ofADeadGrantTheAccessTokenIsRevokedWhileItLives() async throws {
        let world = try await World()
        let login = try await dead(.deadGrant, in: world)
        world.transport.enqueue(.status(.ok))
        #expect(try await world.users.logOut(.login(login.id)).results.map(\.outcome) == [.revoked])
        #expect(revoked(world) == ["CANARY-access-1"])
        let other = try await dead(.deadGrant, in: world)
        world.expire()
        #expect(try await world.users.logOut(.login(other.id)).results.map(\.outcome) == [.nothingToRevoke])
    }

    @Test func anUnconfirmedRevocationComesBeforeWhatLivesOn() async throws {
        let world = try await World()
        let login = try await dead(.lostResponse, in: world)
        world.transport.enqueue(.status(.serviceUnavailable))
        let report = try await world.users.logOut(.login(login.id))
        #expect(!report.isComplete)
        #expect(try await world.vault.status().pendingRevocations == 1)
    }
}
