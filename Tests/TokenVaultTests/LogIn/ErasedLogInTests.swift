import EngineSupport
import OAuthClient
import Testing
import TokenVault
import TokenVaultTesting
import VaultAdministration
import VaultStorage

/// A log-in that was begun before its user was erased does not make the user again.
@Suite(.tags(.everyEngine))
struct ErasedLogInTests {
    private func complete(_ request: AuthorizationRequest, _ world: World) async throws -> Login {
        try await world.users.completeLogIn(
            .url("https://app.example/callback?code=c&state=\(request.state)"), boundTo: request.binding
        ).login
    }

    private func expectNoUser(_ userId: String, _ world: World) async {
        let code = await #expect(throws: VaultError.self) { _ = try await world.vault.user(userId) }?.code
        #expect(code == .unknownUser)
    }

    /// The one has a login already, the other has only begun a first one.
    @Test(arguments: [true, false]) func erasingEndsThePendingLogIn(hasLogin: Bool) async throws {
        let world = try await World()
        if hasLogin {
            _ = try await world.users.addLogin(userId: "alice", accessToken: try AccessToken("own"))
        }
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        let other = try await world.users.beginLogIn(LogInRequest(userId: "bob", provider: "acme"))
        #expect(try await world.vault.pendingLogIns(of: "alice") == 1)
        #expect(try await world.users.eraseUser("alice").isComplete)
        #expect(try await world.vault.pendingLogIns(of: "alice") == 0)
        let code = await #expect(throws: VaultError.self) { _ = try await complete(request, world) }?.code
        #expect(code == .unknownAuthorizationRequest)
        #expect(world.transport.requestCount == 0)
        await expectNoUser("alice", world)
        let again = await #expect(throws: VaultError.self) { try await world.users.eraseUser("alice") }?.code
        #expect(again == .unknownUser)
        world.transport.enqueue(.generation("1"))
        #expect(try await complete(other, world).userId == "bob")
        #expect(try await world.vault.verify().isClean)
    }

    @Test func anErasedUsersDeviceLogInEnds() async throws {
        var provider = Sample.provider()
        provider.deviceAuthorizationEndpoint = try EndpointURL("https://acme.example/device_authorization")
        let world = try await World(provider: provider)
        _ = try await world.users.addLogin(userId: "alice", accessToken: try AccessToken("own"))
        world.transport.enqueue(
            .json(
                """
                {"device_code":"d","user_code":"WDJB-MJHT","verification_uri":"https://acme.example/device",\
                "expires_in":600,"interval":5}
                """))
        let device = try await world.users.beginDeviceLogIn(LogInRequest(userId: "alice", provider: "acme"))
        try await world.users.eraseUser("alice")
        let code = await #expect(throws: VaultError.self) {
            _ = try await world.withTimePassing { try await world.users.completeDeviceLogIn(device) }
        }?.code
        #expect(code == .unknownAuthorizationRequest)
        #expect(world.transport.requestCount == 1)
        await expectNoUser("alice", world)
    }
}
