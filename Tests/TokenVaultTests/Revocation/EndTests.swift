import EngineSupport
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultStorage

@testable import TokenVault

/// Log-out, disabling and erasing: at rest, and while a renewal is under way.
@Suite(.tags(.everyEngine))
struct EndTests {
    private func revocations(_ world: World) -> [String?] {
        world.transport.requests.filter { $0.path == "/revoke" }.map { $0.form["token"] }
    }

    @Test func logOutRevokesTheRefreshTokenAndForgetsTheLogin() async throws {
        let world = try await World()
        let login = try await world.addChain(dpopKey: .generate())
        world.transport.enqueue(.status(.ok))
        let report = try await world.users.logOut(.login(login.id))
        #expect(report.results == [.init(login: login.id, outcome: .revoked)])
        #expect(report.isComplete)
        #expect(revocations(world) == ["CANARY-refresh-1"])
        #expect(world.transport.requests.first?.form["token_type_hint"] == "refresh_token")
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .unknownLogin)
        #expect(try await world.vault.status().pendingRevocations == 0)
        #expect(try await world.vault.status().logins == 0)
    }

    @Test func aLoginIsUnusableBeforeItsProviderIsAsked() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let gate = Gate()
        world.transport.enqueue(.status(.ok).behind(gate))
        let logOut = Task { try await world.users.logOut(.login(login.id)) }
        await world.transport.waitForRequests(1)
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .unknownLogin)
        #expect(try await world.vault.status().pendingRevocations == 1)
        gate.open()
        #expect(try await logOut.value.isComplete)
    }

    @Test func unconfirmedRevocationStaysInOutboxAndIsReported() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(.status(.serviceUnavailable))
        let report = try await world.users.logOut(.login(login.id))
        #expect(!report.isComplete)
        guard case .pending(let error) = report.results.first?.outcome else {
            Issue.record("told as done")
            return
        }
        #expect(error.code == .tryLater)
        #expect(try await world.vault.status().pendingRevocations == 1)
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .unknownLogin)
    }

    @Test func aProviderThatCannotRevokeIsToldHonestly() async throws {
        let world = try await World(provider: Sample.provider(canRevoke: false))
        let login = try await world.addChain()
        let report = try await world.users.logOut(.login(login.id))
        #expect(report.results.map(\.outcome) == [.unsupported])
        #expect(world.transport.requestCount == 0)
        #expect(try await world.vault.status().pendingRevocations == 0)
    }

    @Test func aLoginWithoutProviderHasNothingToRevoke() async throws {
        let world = try await World()
        let login = try await world.addPlainLogin()
        #expect(try await world.users.logOut(.login(login.id)).results.map(\.outcome) == [.nothingToRevoke])
    }

    @Test func logOutOfOneLoginLeavesTheOtherAlone() async throws {
        let world = try await World()
        let first = try await world.addChain(name: "1")
        try await world.addChain(name: "2")
        world.transport.enqueue(.status(.ok))
        try await world.users.logOut(.login(first.id))
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
    }

    @Test(arguments: ["logOut", "disable", "erase"])
    func anEndDuringARenewalWinsAndTheLateTokensAreRevoked(kind: String) async throws {
        let world = try await World()
        let login = try await world.addChain()
        let gate = Gate()
        world.transport.enqueue(.generation("2").behind(gate))
        world.transport.fallback = .status(.ok)
        world.expire()
        let caller = Task { try await world.users.accessToken(for: .login(login.id)) }
        await world.transport.waitForRequests(1)
        switch kind {
        case "logOut": try await world.users.logOut(.login(login.id))
        case "disable": try await world.users.disableUser("alice")
        default: try await world.users.eraseUser("alice")
        }
        #expect(revocations(world) == ["CANARY-refresh-1"])
        gate.open()
        let expected: VaultError.Code = kind == "disable" ? .userDisabled : .unknownLogin
        #expect(await code { try await caller.value } == expected)
        await world.transport.waitForRequests(3)
        while try await world.vault.status().pendingRevocations > 0, !Task.isCancelled { await Task.yield() }
        #expect(revocations(world) == ["CANARY-refresh-1", "CANARY-refresh-2"])
        let expectedUser: VaultError.Code =
            kind == "logOut" ? .notLoggedIn : kind == "disable" ? .userDisabled : .unknownUser
        #expect(await code { try await world.users.accessToken(userId: "alice") } == expectedUser)
    }

    @Test func disabledUserGetsNothingUntilNextLogIn() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.fallback = .status(.ok)
        #expect(try await world.users.disableUser("alice").isComplete)
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .userDisabled)
        #expect(await code { try await world.addChain(name: "2") } == .userDisabled)
        #expect(
            await code {
                try await world.users.updateAccessToken(
                    for: .login(login.id), accessToken: Sample.accessToken("2"), expiresAt: nil)
            } == .userDisabled)
        try await world.users.enableUser("alice")
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .notLoggedIn)
        #expect(try await world.vault.login(login.id).state == .terminated(.userDisabled))
        try await world.addChain(name: "3")
        #expect(try await world.users.accessToken(userId: "alice").name == "3")
    }

    @Test func disablingTwiceRevokesOnce() async throws {
        let world = try await World()
        try await world.addChain()
        world.transport.fallback = .status(.ok)
        try await world.users.disableUser("alice")
        #expect(try await world.users.disableUser("alice").results.isEmpty)
        #expect(world.transport.requestCount == 1)
    }

    @Test func anErasedUserIsGoneAndMayComeBackAsSomebodyNew() async throws {
        let world = try await World()
        try await world.addChain(name: "1")
        try await world.addChain(name: "2")
        try await world.addChain(user: "bob", name: "3")
        world.transport.fallback = .status(.ok)
        #expect(try await world.users.eraseUser("alice").results.count == 2)
        #expect(await code { try await world.vault.user("alice") } == .unknownUser)
        #expect(try await world.users.accessToken(userId: "bob").name == "3")
        #expect(try await world.vault.status().logins == 1)
        try await world.addChain(name: "4")
        #expect(try await world.users.accessToken(userId: "alice").name == "4")
    }

    @Test func theEndsOfUnknownThingsAreErrors() async throws {
        let world = try await World()
        let login = try await world.addChain()
        try await world.users.logOut(.login(login.id), revokes: false)
        #expect(await code { try await world.users.logOut(.login(login.id)) } == .unknownLogin)
        #expect(await code { try await world.users.disableUser("nobody") } == .unknownUser)
        #expect(await code { try await world.users.eraseUser("nobody") } == .unknownUser)
        #expect(world.transport.requestCount == 0)
    }
}
