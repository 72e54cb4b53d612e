import FoundationEssentials
import HTTPTypes
import OAuthClient
import TestSupport
import Testing
import TokenVaultTesting
import VaultCrypto
import VaultStorage

@testable import TokenVault

/// Client secrets while they are exchanged: which one is good is learnt, and never with a refresh token.
struct ClientSecretTests {
    private func world(_ change: (inout ProviderRegistration) throws -> Void = { _ in }) async throws -> World {
        var registration = Sample.provider()
        registration.alternativeSecrets = [try ClientSecret("CANARY-second"), try ClientSecret("CANARY-third")]
        try change(&registration)
        return try await World(provider: registration)
    }

    /// Takes one secret and refuses the others, at every endpoint.
    private func take(_ secret: String, in world: World) {
        let good = "Basic " + Data("client-1:\(secret)".utf8).base64EncodedString()
        world.transport.fallback = ScriptedReply { request throws(HTTPTransportError) in
            let reply: ScriptedReply =
                if request.request.headerFields[.authorization] != good {
                    .error("invalid_client", status: .unauthorized)
                } else if request.path == "/token" {
                    .generation("2")
                } else { .status(.ok) }
            return try await reply.reply(to: request)
        }
    }

    @Test(arguments: ["CANARY-second", "CANARY-third"])
    func theSecretThatIsTakenComesFirst(_ secret: String) async throws {
        let world = try await world()
        let login = try await world.addChain()
        take(secret, in: world)
        world.expire()
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "2")
        // Refused with the first; then asked about tokens that never were; then sent with the good one.
        let sent = world.transport.requests
        let spent = sent.filter { $0.path == "/token" }
        #expect(spent.count == 2)
        #expect(spent.map { $0.form["refresh_token"] } == ["CANARY-refresh-1", "CANARY-refresh-1"])
        let trials = sent.filter { $0.path == "/revoke" }
        #expect(trials.count == (secret == "CANARY-second" ? 2 : 3))
        #expect(trials.allSatisfy { $0.form["token"]?.hasPrefix("no-such-token-") == true })
        // No refresh token went with any secret but the first and the good one.
        let good = "Basic " + Data("client-1:\(secret)".utf8).base64EncodedString()
        #expect(spent.last?.request.headerFields[.authorization] == good)
        let record = try await world.vault.store.provider(named: "acme").record
        #expect(record.clientSecrets.first?.string() == secret)
        #expect(record.clientSecrets.count == 3)
        let told = try await #require(
            world.vault.store.auditEntries(after: 0, limit: 100).last { $0.kind == .providerUpdated })
        #expect(told.detail.contains(.init("clientSecrets", "changed")))
        #expect(!"\(told)".contains("CANARY"))
    }

    @Test func whatOneProcessLearnsHoldsInAll() async throws {
        let world = try await world()
        let login = try await world.addChain()
        let other = try await world.anotherProcess()
        take("CANARY-second", in: world)
        world.expire()
        _ = try await world.users.accessToken(for: .login(login.id))
        world.expire()
        _ = try await other.users.accessToken(for: .login(login.id))
        #expect(world.transport.requests.filter { $0.path == "/revoke" }.count == 2)
        await other.vault.close()
    }

    @Test func aServerThatTakesNoneIsLeftAlone() async throws {
        let world = try await world()
        let login = try await world.addChain()
        take("CANARY-nobody", in: world)
        world.expire()
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .providerMisconfigured)
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .providerMisconfigured)
        #expect(world.transport.requests.filter { $0.path == "/token" }.count == 1)
        #expect(world.transport.requests.filter { $0.path == "/revoke" }.count == 3)
        #expect(try await world.vault.login(login.id).failure == nil)
    }

    @Test func whereItCannotBeLearntItIsLeftToTheOperator() async throws {
        let world = try await world { $0.revocationEndpoint = nil }
        let login = try await world.addChain()
        take("CANARY-second", in: world)
        world.expire()
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .providerMisconfigured)
        #expect(world.transport.requestCount == 1)
        var change = ProviderChange()
        change.promotesNextSecret = true
        try await world.vault.updateProvider(named: "acme", change)
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "2")
        let record = try await world.vault.store.provider(named: "acme").record
        #expect(
            record.clientSecrets.compactMap { $0.string() } == [
                "CANARY-second", "CANARY-third", "CANARY-client-secret",
            ])
    }

    @Test func oneSecretAloneIsNotTried() async throws {
        let world = try await World()
        let login = try await world.addChain()
        take("CANARY-second", in: world)
        world.expire()
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .providerMisconfigured)
        #expect(world.transport.requestCount == 1)
    }

    @Test func aPushedRequestTeachesTheSecretForTheCode() async throws {
        let world = try await world {
            $0.profile = "keycloak"
            $0.pushedAuthorizationEndpoint = try EndpointURL("https://acme.example/par")
        }
        let good = "Basic " + Data("client-1:CANARY-second".utf8).base64EncodedString()
        world.transport.fallback = ScriptedReply { request throws(HTTPTransportError) in
            let reply: ScriptedReply =
                if request.request.headerFields[.authorization] != good {
                    .error("invalid_client", status: .unauthorized)
                } else if request.path == "/par" {
                    .json(#"{"request_uri":"urn:example:1","expires_in":60}"#, status: .created)
                } else { .generation("1") }
            return try await reply.reply(to: request)
        }
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        let login = try await world.users.completeLogIn(
            .url("https://app.example/callback?code=CANARY-code&state=\(request.state)"), boundTo: request.binding
        ).login
        #expect(login.isRefreshable)
        #expect(world.transport.requests.map(\.path) == ["/par", "/par", "/token"])
    }

    // MARK: In the background

    @Test func thePassThatFindsTheGoodSecretRenewsWithIt() async throws {
        let world = try await world()
        let logins = try await world.addChains(4)
        take("CANARY-second", in: world)
        world.expire()
        let report = try await RenewalScheduler(world.users).runOnce()
        #expect(report.renewed == 4)
        for login in logins { #expect(try await world.vault.login(login).failure == nil) }
        #expect(world.transport.requests.filter { $0.path == "/revoke" }.count == 2)
    }

    /// As when two logins are refused together, and the answer of the second is read after the first one's trial has ended.
    @Test func aRefusalReadLateAsksNothingThatIsKnown() async throws {
        let world = try await world()
        let login = try await world.addChain()
        take("CANARY-second", in: world)
        let before = try await world.vault.store.provider(named: "acme")
        world.expire()
        _ = try await world.users.accessToken(for: .login(login.id))
        let requests = world.transport.requestCount
        #expect(await world.users.context.findWorkingSecret(of: before, within: .seconds(45)))
        await world.users.context.checkSecret(of: before, within: .seconds(45))
        #expect(world.transport.requestCount == requests)
    }

    /// A login that another one's refusal has stopped, and that asks what became of it when all is over.
    @Test func lateCallerContinuesAfterASecretTrial() async throws {
        let world = try await world()
        let login = try await world.addChain()
        let process = try await world.faulty()
        let context = process.users.context
        let provider = try await world.vault.store.provider(named: "acme")
        take("CANARY-client-secret", in: world)
        world.expire()
        context.openBreaker(provider)
        process.store.beforeReading {
            guard world.logs.text.contains("renewal ended") else { return }
            context.health.change(provider.handle) { $0.breaker = Breaker() }
        }
        let wait = await process.users.engine.joinInBackground(login.id.handle, demand: .due)
        #expect(wait == .ended(.renewed))
        #expect(world.transport.requestCount == 1)
        process.store.beforeReading(nil)
        await process.vault.close()
    }

    @Test func recoveryThatFindsTheGoodSecretGoesOnWithIt() async throws {
        let world = try await world()
        let login = try await world.addChain()
        try await world.leaveIntent(login, owner: IntentRecord.nobody, inDoubt: true)
        take("CANARY-second", in: world)
        world.expire()
        #expect(try await world.users.recover().settledRenewals == 1)
    }

    // MARK: Where a wrong secret looks like a dead login

    private static let bare = #""errors":{"bareDeadStatuses":[400]}"#

    /// Refuses with a bare 400 whatever is wrong, and spends the token it was asked with; tells a wrong secret at its
    /// revocation endpoint alone.
    private func takeBare(_ secret: String, in world: World) {
        let good = "Basic " + Data("client-1:\(secret)".utf8).base64EncodedString()
        world.transport.fallback = ScriptedReply { request throws(HTTPTransportError) in
            let isGood = request.request.headerFields[.authorization] == good
            let reply: ScriptedReply =
                request.path == "/token"
                ? (isGood ? .generation("2") : .status(.badRequest)) : .status(isGood ? .ok : .unauthorized)
            return try await reply.reply(to: request)
        }
    }

    @Test func aChangedSecretCostsOneLoginAtMost() async throws {
        let world = try await World(provider: World.profile(Self.bare))
        let logins = try await world.addChains(6)
        takeBare("CANARY-new", in: world)
        world.expire()
        let report = try await RenewalScheduler(world.users).runOnce()
        #expect(report.renewed == 0)
        #expect(try await logins.asyncCount { try await world.vault.login($0).failure != nil } == 1)
        #expect(world.transport.requests.count { $0.path == "/token" } == 1)
        #expect(world.logs.text.contains("refuses the client secret"))
        // The operator gives the new one, and the others go on.
        var change = ProviderChange()
        change.authentication = .clientSecretBasic(try ClientSecret("CANARY-new"))
        try await world.vault.updateProvider(named: "acme", change)
        world.time.advance(by: .seconds(60))
        #expect(try await RenewalScheduler(world.users).runOnce().renewed == 5)
    }

    @Test func aSecondSecretThatIsGoodSavesTheOthersInTheSamePass() async throws {
        var registration = try World.profile(Self.bare)
        registration.alternativeSecrets = [try ClientSecret("CANARY-new")]
        let world = try await World(provider: registration)
        let logins = try await world.addChains(4)
        takeBare("CANARY-new", in: world)
        world.expire()
        #expect(try await RenewalScheduler(world.users).runOnce().renewed == 3)
        #expect(try await logins.asyncCount { try await world.vault.login($0).failure != nil } == 1)
    }

    @Test func callersWaitForWhatTheFirstOneFindsOut() async throws {
        let world = try await World(provider: World.profile(Self.bare))
        let logins = try await world.addChains(8)
        takeBare("CANARY-new", in: world)
        world.expire()
        let users = world.users
        await withTaskGroup(of: Void.self) { group in
            for login in logins { group.addTask { _ = try? await users.accessToken(for: .login(login)) } }
        }
        #expect(try await logins.asyncCount { try await world.vault.login($0).failure != nil } == 1)
    }

    @Test func aDeadLoginHoldsNobodyUpWhileTheSecretIsGood() async throws {
        let world = try await World(provider: World.profile(Self.bare))
        let logins = try await world.addChains(3)
        let good = "Basic " + Data("client-1:CANARY-client-secret".utf8).base64EncodedString()
        world.transport.fallback = ScriptedReply { request throws(HTTPTransportError) in
            let isDead = request.form["refresh_token"] == "CANARY-refresh-1"
            let reply: ScriptedReply =
                request.request.headerFields[.authorization] != good
                ? .status(.unauthorized)
                : request.path == "/revoke" ? .status(.ok) : isDead ? .status(.badRequest) : .generation("2")
            return try await reply.reply(to: request)
        }
        world.expire()
        #expect(try await RenewalScheduler(world.users).runOnce().renewed == 2)
        await #expect(try world.vault.login(logins[1]).failure?.reason == .deadGrant)
    }
}
