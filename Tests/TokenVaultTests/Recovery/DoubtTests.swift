import EngineSupport
import FoundationEssentials
import HTTPTypes
import OAuthClient
import TestSupport
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultStorage

@testable import TokenVault

/// What is remembered of a doubt, and how it ends.
@Suite(.tags(.everyEngine))
struct DoubtTests {
    private let lost = ScriptedReply.failure(.maybeSent, .timeout)

    private func renew(_ world: World, _ login: Login) async -> VaultError.Code? {
        await world.withTimePassing { await code { try await world.users.accessToken(for: .login(login.id)) } }
    }

    @Test func theCauseOfADoubtIsRemembered() async throws {
        let cases: [([ScriptedReply], RenewalDoubt.Cause)] = [
            ([lost, lost], .lostReply), ([.status(.badGateway)], .serverError),
            ([.status(.ok, body: "<html>"), .status(.ok)], .lostReply),
        ]
        for (replies, cause) in cases {
            let world = try await World()
            let login = try await world.addChain()
            for reply in replies { world.transport.enqueue(reply) }
            world.expire()
            let before = world.now
            #expect(await renew(world, login) == .tryLater)
            let renewal = try #require(try await world.vault.diagnosis(of: login.id).renewal)
            #expect(renewal.doubt?.cause == cause)
            #expect(renewal.doubt?.since == before)
            #expect(renewal.owner == .nobody)
            #expect(renewal.tries == replies.count)
            #expect(try await world.vault.diagnosis().openRenewals == [renewal])
        }
    }

    @Test func aDeadOwnerIsACauseOfItsOwn() async throws {
        let world = try await World()
        let login = try await world.addChain()
        try await world.leaveIntent(login)
        #expect(try await world.vault.diagnosis(of: login.id).renewal?.doubt?.cause == .ownerDied)
        #expect(try await world.vault.diagnosis(of: login.id).renewal?.owner == .dead)
        #expect(try await world.vault.diagnosis(of: login.id).nextStep == .recover)
        world.transport.enqueue(.status(.internalServerError))
        world.expire()
        #expect(await renew(world, login) == .tryLater)
        // The first cause stays.
        #expect(try await world.vault.diagnosis(of: login.id).renewal?.doubt?.cause == .ownerDied)
        await #expect(try world.tale().contains("intentTakenOver cause=ownerDied"))
    }

    @Test func insideTheGracePeriodAReplyIsAskedForThreeTimes() async throws {
        let world = try await World(provider: World.provider(refresh: Self.forgiving))
        let login = try await world.addChain()
        world.transport.fallback = lost
        world.expire()
        #expect(await renew(world, login) == .tryLater)
        #expect(world.transport.requestCount == 4)
        #expect(try await world.vault.diagnosis(of: login.id).renewal?.tries == 4)
    }

    private static let forgiving = #"{"rotation":"always","graceSeconds":1800}"#

    @Test func eachTimeThatATokenTravelsStandsInTheAuditTrail() async throws {
        let world = try await World(provider: World.provider(refresh: Self.forgiving))
        let login = try await world.addChain()
        world.transport.enqueue(lost, lost, .generation("2"))
        world.expire()
        #expect(await renew(world, login) == nil)
        await #expect(
            try world.tale().suffix(6) == [
                "renewalStarted", "renewalInDoubt", "renewalRepeated cause=doubt try=2", "renewalInDoubt",
                "renewalRepeated cause=doubt try=3", "renewed after=doubt",
            ])
    }

    @Test func aReplayIsNotedBeforeItIsSent() async throws {
        let world = try await World(provider: World.provider(refresh: Self.forgiving))
        let login = try await world.addChain()
        let gate = Gate()
        world.transport.enqueue(lost, .generation("2").behind(gate))
        world.expire()
        let call = Task { await renew(world, login) }
        await world.transport.waitForRequests(2)
        await #expect(try world.tale().last == "renewalRepeated cause=doubt try=2")
        let renewal = try #require(try await world.vault.diagnosis(of: login.id).renewal)
        #expect(renewal.doubt?.cause == .lostReply)
        #expect(renewal.owner == .thisProcess)
        #expect(renewal.tries == 2)
        gate.open()
        #expect(await call.value == nil)
    }

    @Test func aReplayThatCannotBeNotedIsNotSent() async throws {
        let world = try await World(provider: World.provider(refresh: Self.forgiving))
        let login = try await world.addChain()
        let process = try await world.faulty()
        process.store.fail([.before], afterCommits: 1)
        world.transport.enqueue(lost)
        world.expire()
        await world.withTimePassing {
            #expect(await code { try await process.users.accessToken(for: .login(login.id)) } == .tryLater)
        }
        #expect(world.transport.requestCount == 1)
        let tale = try await world.tale().suffix(2)
        #expect(tale.first == "renewalStarted")
        #expect(tale.last?.hasPrefix("renewalInDoubt") == true, "\(tale)")
        await #expect(try world.stored(login).intent?.tries == 1)
    }

    @Test func aTokenThatIsSentAgainForANonceIsToldWithTheOutcome() async throws {
        let world = try await World()
        let login = try await world.addChain(dpopKey: .generate())
        world.transport.enqueue(
            .error("use_dpop_nonce", headers: [HTTPField.Name.dpopNonce: "n-1"]),
            .tokens(accessToken: "CANARY-access-2", refreshToken: "CANARY-refresh-2", tokenType: "DPoP"))
        world.expire()
        #expect(await renew(world, login) == nil)
        #expect(world.transport.requestCount == 2)
        await #expect(
            try world.tale().suffix(3) == ["renewalStarted", "renewalRepeated cause=challenge", "renewed"])
    }

    private static let harmful = #"{"rotation":"always","reuseBlast":"clientUser"}"#

    @Test func oldTokenServesToItsEndWhereReplayIsHarmful() async throws {
        let world = try await World(provider: World.provider(refresh: Self.harmful))
        let login = try await world.addChain()
        try await world.addChain(name: "other")
        world.time.advance(by: .seconds(3_400))
        world.transport.enqueue(lost)
        #expect(
            try await world.withTimePassing { try await world.users.accessToken(for: .login(login.id)) }.name == "1")
        world.time.advance(by: .seconds(60))
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "1")
        #expect(
            await code {
                try await world.users.accessToken(for: .login(login.id), TokenRequest(minimumValidity: .seconds(3_000)))
            }
                == .lostResponse)
        let expiresAt = try await world.vault.login(login.id).expiresAt
        #expect(try await world.vault.diagnosis(of: login.id).nextStep == .useToken(until: expiresAt))
        #expect(try await world.vault.login(login.id).failure == nil)
        world.expire()
        #expect(await renew(world, login) == .lostResponse)
        #expect(try await world.vault.login(login.id).failure?.reason == .lostResponse)
        #expect(world.transport.requestCount == 1)
    }

    @Test func whereNobodyElseIsHarmedThereIsOneReplay() async throws {
        let world = try await World(provider: World.provider(refresh: Self.harmful))
        let login = try await world.addChain()
        try await world.addChain(user: "bob", name: "other")
        world.transport.enqueue(lost, .generation("2"))
        world.expire()
        #expect(await renew(world, login) == nil)
        #expect(world.transport.requestCount == 2)
    }

    @Test func whereAReplayIsForbiddenTheLoginEndsWithItsToken() async throws {
        let handler = RecordingHandler()
        let world = try await World(
            handler: handler, provider: World.provider(refresh: #"{"rotation":"always","replay":"never"}"#))
        let login = try await world.addChain()
        world.transport.enqueue(lost)
        world.expire()
        #expect(await renew(world, login) == .tryLater)
        world.time.advance(by: .seconds(2))
        #expect(await renew(world, login) == .lostResponse)
        #expect(world.transport.requestCount == 1)
        #expect(handler.failed == ["alice"])
    }

    @Test func anOutageOfHoursEndsNoLogin() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.fallback = .status(.serviceUnavailable)
        world.expire()
        for _ in 0..<60 {
            #expect(await renew(world, login) == .tryLater)
            world.time.advance(by: .seconds(600))
        }
        #expect(try await world.vault.login(login.id).failure == nil)
        world.transport.fallback = .generation("2")
        #expect(await renew(world, login) == nil)
        #expect(try await world.vault.diagnosis(of: login.id).renewal == nil)
    }

    @Test func aDoubtThatNobodyAnswersForADayIsALostResponse() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.fallback = lost
        world.expire()
        for _ in 0..<8 {
            #expect(await renew(world, login) == .tryLater)
            world.time.advance(by: .seconds(600))
        }
        let requests = world.transport.requestCount
        world.time.advance(by: .seconds(86_400))
        #expect(await renew(world, login) == .lostResponse)
        #expect(world.transport.requestCount == requests)
        #expect(try await world.vault.login(login.id).failure?.reason == .lostResponse)
    }

    @Test(arguments: [false, true])
    func aTokenOfTheAppDoesNotMakeADoubtForgotten(wasInDoubt: Bool) async throws {
        let world = try await World()
        let login = try await world.addChain()
        if wasInDoubt { try await world.leaveIntent(login) }
        world.expire()
        let later = world.now.addingTimeInterval(3_600)
        let users = world.users
        world.transport.enqueue(
            ScriptedReply { _ throws(HTTPTransportError) in
                _ = try? await users.updateAccessToken(
                    for: .login(login.id), accessToken: Sample.accessToken("app"), expiresAt: later)
                throw HTTPTransportError(wasInDoubt ? .notSent : .maybeSent, .timeout)
            })
        let token = try await world.withTimePassing { try await users.accessToken(for: .login(login.id)) }
        #expect(token.name == "app")
        #expect(try await world.vault.login(login.id).isInDoubt)
        world.expire()
        world.transport.enqueue(.error("invalid_grant"))
        #expect(await renew(world, login) == .lostResponse)
    }

    @Test func deathRightAfterADoubtSuggestsALateArrival() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(lost, .generation("2"), .error("invalid_grant"))
        world.expire()
        #expect(await renew(world, login) == nil)
        await #expect(try world.tale().contains("renewed after=doubt"))
        #expect(await code { try await world.users.accessToken(for: .login(login.id), .renewed) } == .lostResponse)
        #expect(world.logs.text.contains("lateArrivalSuspected"))
        await #expect(
            try world.tale().contains("loginDead reason=lostResponse suspected=lateArrival answer=400 invalid_grant"))
    }

    @Test func tokensThatDieAfterTheServerHasForgottenDoNot() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(lost, .generation("2"), .error("invalid_grant"))
        world.expire()
        #expect(await renew(world, login) == nil)
        world.time.advance(by: ReplayPolicy.usualMemory)
        #expect(await code { try await world.users.accessToken(for: .login(login.id), .renewed) } == .refreshFailed)
        #expect(!world.logs.text.contains("lateArrivalSuspected"))
        await #expect(try world.tale().contains("loginDead reason=deadGrant answer=400 invalid_grant"))
    }
}
