import FoundationEssentials
import HTTPTypes
import OAuthClient
import TestSupport
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultCrypto
import VaultStorage

@testable import TokenVault

/// How far an error reaches: as far as what was said, and no further.
struct ErrorScopeTests {
    /// Answers each refresh token of the table as it says, and all others with tokens.
    private func refuse(_ refused: [String: ScriptedReply], in world: World) {
        world.transport.fallback = ScriptedReply { request throws(HTTPTransportError) in
            let token = request.form["refresh_token"].map { String($0.dropFirst("CANARY-refresh-".count)) } ?? ""
            return try await (refused[token] ?? .generation(token + "x")).reply(to: request)
        }
    }

    private func chains(_ count: Int, in world: World) async throws -> [Login] {
        var logins: [Login] = []
        for index in 0..<count { logins.append(try await world.addChain(user: "user\(index)", name: "\(index)")) }
        return logins
    }

    static let oneLoginsCodes = [
        "invalid_request", "unauthorized_client", "invalid_scope", "invalid_target", "use_dpop_nonce",
    ]

    // MARK: A refusal of what one login asks for

    @Test(arguments: oneLoginsCodes)
    func aRefusalOfOneLoginHoldsUpNoOther(_ code: String) async throws {
        let world = try await World()
        let logins = try await chains(4, in: world)
        refuse(["0": .error(code)], in: world)
        world.expire()
        #expect(
            await TokenVaultTests.code { try await world.users.accessToken(for: .login(logins[0].id)) }
                == .providerMisconfigured)
        for login in logins[1...] {
            #expect(try await world.users.accessToken(for: .login(login.id)).name.hasSuffix("x"))
        }
        #expect(try await world.vault.login(logins[0].id).failure == nil)
    }

    /// Its own pause is durable: neither callers nor schedulers of any process ask again at once, and it grows.
    @Test func aRefusedLoginRestsInEveryProcess() async throws {
        let world = try await World()
        let login = try await world.addChain()
        refuse(["1": .error("invalid_request")], in: world)
        world.expire()
        _ = try? await world.users.accessToken(for: .login(login.id))
        let other = try await world.anotherProcess()
        #expect(await code { try await other.users.accessToken(for: .login(login.id)) } == .tryLater)
        #expect(try await RenewalScheduler(other.users).runOnce().renewed == 0)
        #expect(world.transport.requestCount == 1)
        world.time.advance(by: .seconds(29))
        #expect(await code { try await other.users.accessToken(for: .login(login.id)) } == .tryLater)
        world.time.advance(by: .seconds(1))
        #expect(await code { try await other.users.accessToken(for: .login(login.id)) } == .providerMisconfigured)
        #expect(world.transport.requestCount == 2)
        let notBefore = try #require(try await other.vault.login(login.id).notBefore)
        #expect(notBefore.timeIntervalSince(world.now) == 60)
        await other.vault.close()
    }

    @Test func threeRefusedLoginsInARowAreTheClientsMatter() async throws {
        let world = try await World()
        let logins = try await chains(6, in: world)
        let refused = Dictionary(
            uniqueKeysWithValues: (0..<6).map { ("\($0)", ScriptedReply.error("invalid_request")) })
        refuse(refused, in: world)
        world.expire()
        for login in logins { _ = try? await world.users.accessToken(for: .login(login.id)) }
        #expect(world.transport.requestCount == 3)
        #expect(try await logins[3...].asyncCount { try await world.vault.login($0.id).notBefore == nil } == 3)
    }

    @Test func aSuccessBetweenThemMakesItCoincidence() async throws {
        let world = try await World()
        let logins = try await chains(6, in: world)
        refuse(
            ["0": .error("invalid_request"), "1": .error("invalid_request"), "3": .error("invalid_request")], in: world)
        world.expire()
        for login in logins { _ = try? await world.users.accessToken(for: .login(login.id)) }
        #expect(world.transport.requestCount == 6)
    }

    /// A token that cannot be read back is its login's trouble.
    @Test func aStoredTokenThatCannotBeSentHoldsUpNoOther() async throws {
        let world = try await World()
        let logins = try await chains(2, in: world)
        refuse([:], in: world)
        try await world.vault.store.updateLogin(logins[0].id.handle) { state in
            state.refresh?.refreshToken = SecretBytes(copying: [0xFF, 0xFE])
        }
        world.expire()
        #expect(await code { try await world.users.accessToken(for: .login(logins[0].id)) } == .providerMisconfigured)
        #expect(try await world.users.accessToken(for: .login(logins[1].id)).name == "1x")
        #expect(world.transport.requestCount == 1)
    }

    @Test func whatAProfileKnowsOfOneUserRestsThatUserAlone() async throws {
        for (profile, refusal) in [
            ("google", "admin_policy_enforced"), ("google", "org_internal"), ("salesforce", "invalid_app_access"),
            ("github", "unverified_user_email"), ("salesforce", "inactive_user"),
        ] {
            let rules = try ProviderProfile.named(profile).reply
            #expect(rules.meanings[refusal] == .needsUser, "\(profile): \(refusal)")
        }
        for (profile, refusal) in [
            ("google", "deleted_client"), ("github", "incorrect_client_credentials"), ("slack", "bad_client_secret"),
            ("hubspot", "BAD_CLIENT_SECRET"), ("zoho", "invalid_client_secret"),
        ] {
            let rules = try ProviderProfile.named(profile).reply
            #expect(rules.meanings[refusal] == .clientRefused, "\(profile): \(refusal)")
        }
        // Nobody has written down whom these are about.
        #expect(try ProviderProfile.named("auth0").reply.meanings["access_denied"] == nil)
        #expect(try ProviderProfile.named("slack").reply.meanings["invalid_auth"] == .temporary)
    }

    // MARK: Refusals that say nothing

    /// Renews every login once an hour for so long; what the server does is in its script.
    private func hours(_ count: Int, _ logins: [Login], in world: World) async {
        for _ in 0..<count {
            for login in logins { _ = try? await world.users.accessToken(for: .login(login.id), .renewed) }
            world.time.advance(by: .seconds(3_600))
        }
    }

    @Test func aProviderThatRefusesEverybodyEndsNobody() async throws {
        let world = try await World()
        let logins = try await chains(3, in: world)
        world.transport.fallback = .status(.forbidden, body: "<html>blocked</html>")
        await hours(60, logins, in: world)
        for login in logins { #expect(try await world.vault.login(login.id).failure == nil) }
        // Not a process that has just started, either.
        let other = try await world.anotherProcess()
        for login in logins {
            #expect(await code { try await other.users.accessToken(for: .login(login.id), .renewed) } == .tryLater)
        }
        world.transport.fallback = .generation("new")
        world.time.advance(by: .seconds(600))
        for login in logins {
            #expect(try await other.users.accessToken(for: .login(login.id), .renewed).name == "new")
        }
        await other.vault.close()
    }

    @Test func aLoginThatAloneIsRefusedEndsAndCanBeRevived() async throws {
        let world = try await World()
        let logins = try await chains(3, in: world)
        refuse(["0": .status(.forbidden, body: "<html>blocked</html>")], in: world)
        await hours(26, [logins[0]], in: world)
        // Others exist, and were not renewed meanwhile: nothing is known.
        #expect(try await world.vault.login(logins[0].id).failure == nil)
        // Another process renews one of them.
        let other = try await world.anotherProcess()
        _ = try await other.users.accessToken(for: .login(logins[1].id), .renewed)
        await other.vault.close()
        world.time.advance(by: .seconds(600))
        #expect(await code { try await world.users.accessToken(for: .login(logins[0].id), .renewed) } == .refreshFailed)
        await #expect(try world.vault.login(logins[0].id).failure?.reason == .unclassifiedRejection)

        let revived = try await world.users.revive(.login(logins[0].id))
        #expect(revived.failure == nil)
        #expect(revived.state == .tokenExpired(nil))
        await #expect(try world.tale().contains("loginRevived reason=unclassifiedRejection"))
        refuse([:], in: world)
        #expect(try await world.users.accessToken(for: .login(logins[0].id)).name == "0x")
    }

    /// The same token is not the success of somebody else.
    @Test func successesOfAnotherProviderAreNoEvidence() async throws {
        let world = try await World()
        let login = try await world.addChain()
        try await world.vault.addProvider(Sample.provider(name: "other"))
        let elsewhere = try await world.users.addLogin(
            userId: "bob", provider: "other", accessToken: Sample.accessToken("b"), expiresAt: world.now,
            refreshToken: Sample.refreshToken("b"))
        refuse(["1": .status(.forbidden, body: "<html>")], in: world)
        await hours(26, [login], in: world)
        _ = try await world.users.accessToken(for: .login(elsewhere.id), .renewed)
        #expect(await code { try await world.users.accessToken(for: .login(login.id), .renewed) } == .tryLater)
        await #expect(try world.vault.login(login.id).failure == nil)
    }

    // MARK: Reviving

    @Test func onlyWhatWasKeptCanBeRevived() async throws {
        let world = try await World()
        let living = try await world.addChain(user: "a", name: "1")
        let dead = try await world.addChain(user: "b", name: "2")
        let lost = try await world.addChain(user: "c", name: "3")
        refuse(["2": .error("invalid_grant")], in: world)
        _ = try? await world.users.accessToken(for: .login(dead.id), .renewed)
        try await world.vault.change(lost.id.handle) { [vault = world.vault] state in
            state.die(.lostResponse, at: vault.now)
        }
        #expect(await code { try await world.users.revive(.login(living.id)) } == .conflict)
        #expect(await code { try await world.users.revive(.login(dead.id)) } == .notRefreshable)
        #expect(await code { try await world.users.revive(.login(lost.id)) } == .notRefreshable)
        await #expect(try world.vault.login(dead.id).failure?.reason == .deadGrant)
        try await world.users.logOut(.login(living.id), revokes: false)
        #expect(await code { try await world.users.revive(.login(living.id)) } == .unknownLogin)
    }

    @Test func aLoginThatNeededItsUserCanBeRevived() async throws {
        let world = try await World()
        let login = try await world.addChain()
        refuse(["1": .error("consent_required")], in: world)
        world.expire()
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .needsUserInteraction)
        try await world.users.revive(.login(login.id))
        refuse([:], in: world)
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "1x")
    }

    @Test func aRevivedLoginIsToldToThoseWhoWatch() async throws {
        let world = try await World()
        let login = try await world.addChain()
        try await world.vault.change(login.id.handle) { [vault = world.vault] state in
            state.die(.keyMismatch, at: vault.now)
        }
        var states = world.users.sessionStates(of: .login(login.id)).makeAsyncIterator()
        #expect(await states.next(isolation: nil).map { $0 != .established } == true)
        try await world.users.revive(.login(login.id))
        #expect(await states.next(isolation: nil) == .established)
        try await world.users.disableUser("alice")
        #expect(await code { try await world.users.revive(.login(login.id)) } == .userDisabled)
    }
}
