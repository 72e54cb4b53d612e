import HTTPTypes
import OAuthClient
import Synchronization
import Testing
import TokenVault
import TokenVaultTesting

/// Who listens to the token endpoint hears of everything, after it is safe, and delays nobody.
struct ListenerTests {
    private final class Listener: TokenEndpointResponseListener {
        private let body: @Sendable (TokenEndpointResponse) async throws -> Void
        private let responses = Mutex<[TokenEndpointResponse]>([])

        init(_ body: @escaping @Sendable (TokenEndpointResponse) async throws -> Void = { _ in }) {
            self.body = body
        }

        var heard: [TokenEndpointResponse] { responses.withLock { $0 } }

        func wait(for count: Int) async {
            while heard.count < count, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(2)) }
        }

        func tokenEndpointResponded(_ response: TokenEndpointResponse) async throws {
            try await body(response)
            responses.withLock { $0.append(response) }
        }
    }

    private func users(_ world: World, _ listener: Listener, reveals: Bool = false) async throws -> UserManager {
        try await UserManager(
            vault: world.vault, transport: world.transport,
            options: UserManagerOptions(
                tokenEndpointListener: listener, revealsSecretBodiesToListener: reveals, random: { 1 }))
    }

    @Test func aRefreshIsHeardOfAfterItsTokensAreStored() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let stored = Mutex<[Int]>([])
        let vault = world.vault
        let listener = Listener { _ in
            let generation = try await vault.login(login.id).generation
            stored.withLock { $0.append(generation) }
        }
        let users = try await users(world, listener)
        world.transport.enqueue(.generation("2"))
        world.expire()
        let token = try await users.accessToken(for: .login(login.id))
        await listener.wait(for: 1)
        #expect(stored.withLock { $0 } == [token.generation])
        #expect(listener.heard.map(\.operation) == [.refresh])
        #expect(listener.heard.map(\.status) == [200])
        #expect(listener.heard.allSatisfy { $0.secretBody == nil })
        #expect(!"\(listener.heard)".contains(Sample.marker))
    }

    @Test func aListenerThatHangsDelaysNeitherCallersNorTheStore() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let gate = Gate()
        let listener = Listener { _ in await gate.pass() }
        let users = try await users(world, listener)
        for name in ["2", "3", "4"] {
            world.transport.enqueue(.generation(name))
            world.expire()
            #expect(try await users.accessToken(for: .login(login.id)).name == name)
        }
        #expect(listener.heard.isEmpty)
        gate.open()
        await listener.wait(for: 3)
    }

    @Test func logInRefusalAndLogOutAreHeardOf() async throws {
        let world = try await World()
        let listener = Listener { _ in throw CancellationError() }
        let quiet = Listener()
        let users = try await users(world, quiet, reveals: true)
        let loud = try await self.users(world, listener)
        world.transport.enqueue(.generation("1"), .error("invalid_grant"), .generation("2"), .status(.ok))
        let login = try await users.logIn(
            LogInRequest(userId: "alice", provider: "acme", redirectURI: nil),
            authorizationCode: try AuthorizationCode("code"), codeVerifier: nil)
        world.expire()
        #expect(await code { try await users.accessToken(for: .login(login.id)) } == .refreshFailed)
        let again = try await users.logIn(
            LogInRequest(userId: "alice", provider: "acme", redirectURI: nil),
            authorizationCode: try AuthorizationCode("code"), codeVerifier: nil)
        try await users.logOut(.login(again.id))
        await quiet.wait(for: 4)
        try #require(quiet.heard.count == 4)
        #expect(quiet.heard.map(\.operation) == [.fetch, .refresh, .fetch, .revoke])
        #expect(quiet.heard.map(\.status) == [200, 400, 200, 200])
        #expect(String(decoding: quiet.heard[0].secretBody ?? [], as: UTF8.self).contains("CANARY-refresh-1"))
        // What a listener throws reaches nobody.
        world.transport.enqueue(.generation("9"))
        _ = try await loud.logIn(
            LogInRequest(userId: "bob", provider: "acme", redirectURI: nil),
            authorizationCode: try AuthorizationCode("code"), codeVerifier: nil)
    }
}
