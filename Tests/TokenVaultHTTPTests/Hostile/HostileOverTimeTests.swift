import DevAuthorizationServer
import Foundation
import HTTPTypes
import OAuthClient
import Synchronization
import Testing
import TokenVault
import TokenVaultHTTP
import TokenVaultTesting

/// Servers whose fault shows only over several requests: many logins on one vault, the real transport, a clock that a
/// test moves.
struct HostileOverTimeTests {
    private final class Switch: Sendable {
        private let value: Mutex<Set<String>>
        init(_ names: Set<String>) { value = Mutex(names) }
        func set(_ names: Set<String>) { value.withLock { $0 = names } }
        func contains(_ name: String) -> Bool { value.withLock { $0.contains(name) } }
    }

    private struct Setting {
        let time = ManualTimeSource(start: Date())
        let transport = AsyncHTTPTransport(options: .loopback)
        let temporary: TemporaryVault
        let users: UserManager
        var vault: Vault { temporary.vault }

        init(tokenEndpoint: String) async throws {
            temporary = try await TemporaryVault(timeSource: time)
            try await temporary.vault.addProvider(
                ProviderRegistration(
                    name: "dev", tokenEndpoint: EndpointURL(tokenEndpoint, allowsInsecureLoopback: true),
                    clientID: ClientID("demo")))
            users = try await UserManager(
                vault: temporary.vault, transport: transport,
                options: UserManagerOptions(recoveryInterval: nil, random: { 0 }))
        }

        func add(_ name: String, refreshToken: String? = nil, key: DPoPKey? = nil) async throws -> Login {
            try await users.addLogin(
                userId: name, provider: "dev", refreshToken: RefreshToken(refreshToken ?? "\(name)-1"), dpopKey: key)
        }

        func add(_ names: [String]) async throws -> [Login] {
            var logins: [Login] = []
            for name in names { logins.append(try await add(name)) }
            return logins
        }

        /// The error code of a renewal; nil: it went well.
        func renew(_ login: Login) async -> VaultError.Code? {
            do {
                _ = try await users.accessToken(for: .login(login.id), .renewed)
                return nil
            } catch {
                return (error as? VaultError)?.code ?? .invalidArgument
            }
        }

        func failures(_ logins: [Login]) async throws -> [RefreshFailure.Reason?] {
            var failures: [RefreshFailure.Reason?] = []
            for login in logins { failures.append(try await vault.login(login.id).failure?.reason) }
            return failures
        }

        func close() async {
            await vault.close()
            await transport.shutdown()
        }
    }

    @Test func aClientThatIsRefusedForAMinuteCostsNobodyHisLogin() async throws {
        let names = (1...8).map { "user\($0)" }
        let refused = Switch(Set(names))
        let server = try CountingEndpoint { name in
            refused.contains(name) ? .reply(401, HostileReply.error("invalid_client")) : nil
        }
        let setting = try await Setting(tokenEndpoint: server.url)
        let logins = try await setting.add(names)
        for login in logins { #expect(await setting.renew(login) == .providerMisconfigured) }
        // The first refusal closes the provider to all.
        #expect(server.requests.count == 1)
        // After half a minute one login asks, and the others wait for what it learns.
        setting.time.advance(by: .seconds(31))
        for login in logins { #expect(await setting.renew(login) == .providerMisconfigured) }
        #expect(server.requests.count == 2)
        #expect(try await setting.failures(logins).allSatisfy { $0 == nil })

        refused.set([])
        setting.time.advance(by: .seconds(61))
        for login in logins { #expect(await setting.renew(login) == nil) }
        #expect(server.requests.count == 2 + logins.count)
        #expect(server.reuses == 0)
        #expect(try await setting.failures(logins).allSatisfy { $0 == nil })
        await setting.close()
    }

    @Test func oneUsersDeadGrantEndsNoOtherLogin() async throws {
        let names = (1...6).map { "user\($0)" }
        let dead = Switch(["user1"])
        let server = try CountingEndpoint { dead.contains($0) ? .reply(400, HostileReply.invalidGrant) : nil }
        let setting = try await Setting(tokenEndpoint: server.url)
        let logins = try await setting.add(names)
        for login in logins { _ = await setting.renew(login) }
        #expect(try await setting.failures(logins) == [.deadGrant] + Array(repeating: nil, count: 5))
        #expect(server.requests.count == 6)

        dead.set(Set(names))
        for _ in 0..<3 {
            for login in logins { #expect(await setting.renew(login) == .refreshFailed) }
        }
        #expect(try await setting.failures(logins) == Array(repeating: .deadGrant, count: 6))
        // Nobody asks for the dead a second time.
        #expect(server.requests.count == 6 + 5)
        await setting.close()
    }

    /// A thief used a copy of a refresh token. What the server ends for it is dead here, at one request for each login,
    /// and nothing else is.
    @Test(arguments: [
        AuthorizationServerConfiguration.ReuseResponse.refuse, .revoke, .revokeUser,
    ])
    func theftEndsWhatTheServerEnds(_ reuse: AuthorizationServerConfiguration.ReuseResponse) async throws {
        var configuration = AuthorizationServerConfiguration()
        configuration.reuseResponse = reuse
        let server = try await DevAuthorizationServer.start(configuration)
        let setting = try await Setting(tokenEndpoint: server.base + "/token")
        var logins: [Login] = []
        var stolen = ""
        for (index, user) in ["alice", "alice", "bob"].enumerated() {
            let token = try #require(server.issueGrant(user: user)?.refreshToken)
            if index == 0 { stolen = token }
            logins.append(try await setting.add("\(user)\(index)", refreshToken: token))
        }
        let theft = HTTPRequest(
            method: .post, scheme: "http", authority: "127.0.0.1:\(server.port)", path: "/token",
            headerFields: [.contentType: "application/x-www-form-urlencoded"])
        let body = "grant_type=refresh_token&client_id=demo&refresh_token=" + stolen
        let reply = try await setting.transport.send(theft, body: Array(body.utf8), limits: .patient)
        #expect(reply.response.status == .ok)

        for login in logins { _ = await setting.renew(login) }
        let siblingDies = reuse == .revokeUser
        #expect(try await setting.failures(logins) == [.deadGrant, siblingDies ? .deadGrant : nil, nil])
        #expect(server.counters.reuseDetected == 1)
        #expect(server.counters.refreshRequests == 4)
        for login in logins.dropLast(siblingDies ? 1 : 2) { #expect(await setting.renew(login) == .refreshFailed) }
        #expect(server.counters.refreshRequests == 4)
        await setting.close()
        await server.shutDown()
    }

    /// Lifetimes shorter than the time by which tokens are renewed early.
    @Test(arguments: ["1", "0.05", "0", "\"0\"", "-1", "59"])
    func aShortLifeIsNoReasonToRenewForEver(lifetime: String) async throws {
        let server = try CountingEndpoint(lifetime: lifetime)
        let setting = try await Setting(tokenEndpoint: server.url)
        let login = try await setting.add("alice")
        for _ in 0..<30 { _ = try? await setting.users.accessToken(for: .login(login.id)) }
        for _ in 0..<30 {
            _ = try? await setting.users.accessToken(
                for: .login(login.id), TokenRequest(minimumValidity: .seconds(600)))
        }
        // While no time passes, asking again changes nothing.
        #expect(server.requests.count == 1, "\(server.requests.count) requests")
        let callers = 20
        for _ in 0..<callers {
            setting.time.advance(by: .seconds(2))
            _ = try? await setting.users.accessToken(for: .login(login.id))
        }
        #expect(server.requests.count <= 1 + callers)
        #expect(server.reuses == 0)
        #expect(try await setting.failures([login]) == [nil])
        await setting.close()
    }

    @Test func oneTimeNoncesSurviveARestart() async throws {
        var configuration = AuthorizationServerConfiguration()
        configuration.noncePolicy = .requiredOnce
        let server = try await DevAuthorizationServer.start(configuration)
        let setting = try await Setting(tokenEndpoint: server.base + "/token")
        let key = DPoPKey.generate()
        let grant = try #require(server.issueGrant(user: "alice", keyThumbprint: key.thumbprint.rawValue))
        let login = try await setting.add("alice", refreshToken: grant.refreshToken, key: key)
        for _ in 0..<3 { #expect(await setting.renew(login) == nil) }
        let outcomes = server.log.tokenRequests().map(\.outcome)
        #expect(outcomes == ["use_dpop_nonce", "ok", "ok", "ok"])

        await setting.vault.close()
        let vault = try await setting.temporary.openAgain()
        let users = try await UserManager(vault: vault, transport: setting.transport)
        _ = try await users.accessToken(for: .login(login.id), .renewed)
        #expect(server.log.tokenRequests().map(\.outcome) == outcomes + ["ok"])
        #expect(server.counters.rotated == 4)
        #expect(Set(server.log.tokenRequests().compactMap(\.proofNonce)).count == 4)
        await vault.close()
        await setting.transport.shutdown()
        await server.shutDown()
    }
}
