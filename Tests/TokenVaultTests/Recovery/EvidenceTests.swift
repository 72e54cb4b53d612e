import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultStorage

@testable import TokenVault

/// What a doubt, or the end of a login, may be concluded from: what a server did, never what a clock or a disk did.
struct EvidenceTests {
    // MARK: Overload

    @Test(arguments: [true, false])
    func anOverloadedServerLeavesNoDoubt(isGateway: Bool) async throws {
        let world = try await World(
            provider: World.provider(refresh: #"{"rotation":"always","reuseBlast":"clientUser","replay":"never"}"#))
        let login = try await world.addChain(name: "1")
        try await world.addChain(name: "9")
        world.expire()
        world.transport.enqueue(
            isGateway ? .status(.serviceUnavailable, headers: [.retryAfter: "60"]) : .status(.tooManyRequests))
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .tryLater)
        let stored = try await world.stored(login)
        #expect(stored.intent == nil)
        #expect(stored.session.doubtCause == nil)
        #expect(stored.session.notBefore != nil)
        world.time.advance(by: .seconds(70))
        world.transport.enqueue(.error("invalid_grant"))
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .refreshFailed)
        await #expect(try world.vault.login(login.id).failure?.reason == .deadGrant)
    }

    /// An overload within a doubt brings its end no nearer: nothing was tried.
    @Test func anOverloadIsNoReplay() async throws {
        let world = try await World()
        let login = try await world.addChain()
        try await world.leaveIntent(login, owner: IntentRecord.nobody, inDoubt: true, tries: 2)
        world.expire()
        world.transport.fallback = .status(.serviceUnavailable, headers: [.retryAfter: "60"])
        for _ in 0..<30 {
            #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .tryLater)
            world.time.advance(by: .seconds(3_700))
        }
        #expect(world.transport.requestCount == 30)
        await #expect(try world.stored(login).intent?.tries == 2)
        #expect(try await world.vault.login(login.id).failure == nil)
    }

    // MARK: Clocks

    static let strict = ReplayPolicy()

    @Test func aNegativeTimeIsOutsideOfTheGrace() {
        let forgiving = ReplayPolicy(grace: .seconds(1_800), harmsOtherLogins: true)
        func answer(_ elapsed: Duration, _ tries: Int, others: Bool) -> ReplayPolicy.Answer {
            forgiving.answer(.init(elapsed: elapsed, tries: tries, hasOtherLogins: others))
        }
        #expect(answer(.seconds(30), 1, others: true) == .atOnce)
        #expect(answer(.seconds(-1), 1, others: true) == .never)
        #expect(answer(.seconds(-86_400), 2, others: false) == .later)
    }

    @Test func aClockThatIsSetNeitherExhaustsNorForgives() async throws {
        let world = try await World()
        let vault = world.vault
        let start = vault.now
        world.time.advance(by: .seconds(600))
        #expect(vault.span(since: start) == .init(atLeast: .seconds(600), atMost: .seconds(600)))
        world.time.setWallClock(forwardBy: .seconds(86_400))
        #expect(vault.span(since: start) == .init(atLeast: .seconds(600), atMost: .seconds(87_000)))
        world.time.setWallClock(forwardBy: .seconds(-86_400 - 1_200))
        #expect(vault.span(since: start) == .init(atLeast: .seconds(-600), atMost: .seconds(600)))
        #expect(vault.span(since: start).isUnknown)
        // What lasts for a day is the time.
        world.time.advance(by: .seconds(86_400))
        _ = vault.span(since: start)
        #expect(vault.span(since: start) == .init(atLeast: .seconds(85_800), atMost: .seconds(85_800)))
        let exhausted = ReplayPolicy.Situation(
            .init(atLeast: .seconds(600), atMost: .seconds(87_000)), tries: 9, hasOtherLogins: false)
        #expect(Self.strict.answer(exhausted) == .later)
    }

    @Test func aDoubtIsNotExhaustedByAClockThatIsADayAhead() async throws {
        let world = try await World()
        let login = try await world.addChain()
        try await world.leaveIntent(login, owner: IntentRecord.nobody, inDoubt: true, tries: 8)
        world.expire()
        world.transport.fallback = .status(.badGateway)
        world.time.setWallClock(forwardBy: .seconds(86_400 * 2))
        _ = try? await world.users.accessToken(for: .login(login.id))
        await #expect(try world.vault.login(login.id).failure == nil)
        world.time.setWallClock(forwardBy: .seconds(-86_400 * 2))
        world.transport.fallback = .generation("2")
        world.time.advance(by: .seconds(600))
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "2")
    }

    @Test func rejectionsDoNotSpanADayByAClockThatIsADayAhead() async throws {
        let world = try await World()
        let login = try await world.addChain(user: "a", name: "1")
        let other = try await world.addChain(user: "b", name: "2")
        world.transport.fallback = ScriptedReply { request throws(HTTPTransportError) in
            let isOther = request.form["refresh_token"]?.hasPrefix("CANARY-refresh-2") == true
            return try await (isOther ? ScriptedReply.generation("2x") : .status(.forbidden)).reply(to: request)
        }
        for _ in 0..<12 {
            _ = try? await world.users.accessToken(for: .login(login.id), .renewed)
            world.time.advance(by: .seconds(301))
        }
        _ = try await world.users.accessToken(for: .login(other.id), .renewed)
        world.time.setWallClock(forwardBy: .seconds(86_400))
        _ = try? await world.users.accessToken(for: .login(login.id), .renewed)
        await #expect(try world.vault.login(login.id).failure == nil)
        world.time.setWallClock(forwardBy: .seconds(-86_400))
        // A day by every clock.
        world.time.advance(by: .seconds(86_400 + 600))
        #expect(await code { try await world.users.accessToken(for: .login(login.id), .renewed) } == .refreshFailed)
    }

    // MARK: What is known to be unsent

    /// The disk is full for long enough that nothing can be written down about it.
    @Test(arguments: ["connect", "throttled", "refused"])
    func whatIsKnownToHaveSpentNothingIsNoDoubt(kind: String) async throws {
        let world = try await World()
        let login = try await world.addChain()
        let process = try await world.faulty()
        world.expire()
        let reply: ScriptedReply =
            switch kind {
            case "connect": .failure(.notSent, .connect)
            case "throttled": .status(.tooManyRequests)
            default: .error("invalid_client", status: .unauthorized)
            }
        world.transport.enqueue(reply)
        process.store.fail(Array(repeating: .before, count: 5), afterCommits: 1)
        await world.withTimePassing { _ = try? await process.users.accessToken(for: .login(login.id)) }
        #expect(process.store.failedCommits == 5)
        await #expect(try world.stored(login).intent?.isInDoubt == false)
        let diagnosis = try await process.vault.diagnosis(of: login.id)
        #expect(diagnosis.renewal?.doubt == nil)
        world.time.advance(by: .seconds(60))
        world.transport.enqueue(.error("invalid_grant"))
        #expect(await code { try await process.users.accessToken(for: .login(login.id)) } == .refreshFailed)
        await #expect(try world.vault.login(login.id).failure?.reason == .deadGrant)
    }

    @Test func recoveryClosesWhatIsKnownToHaveSpentNothing() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let process = try await world.faulty()
        world.expire()
        world.transport.enqueue(.failure(.notSent, .connect))
        process.store.fail(Array(repeating: .before, count: 5), afterCommits: 1)
        await world.withTimePassing { _ = try? await process.users.accessToken(for: .login(login.id)) }
        _ = try await process.users.recover()
        #expect(world.transport.requestCount == 1)
        await #expect(try world.stored(login).intent == nil)
    }

    /// Another process cannot know it: to it the owner has ended in the middle of a request.
    @Test func afterThisProcessItIsADoubt() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let process = try await world.anotherFaulty()
        world.expire()
        world.transport.enqueue(.failure(.notSent, .connect))
        process.store.fail(Array(repeating: .before, count: 5), afterCommits: 1)
        await world.withTimePassing { _ = try? await process.users.accessToken(for: .login(login.id)) }
        await process.vault.close()
        world.time.advance(by: .seconds(60))
        world.transport.enqueue(.error("invalid_grant"))
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .lostResponse)
    }

    // MARK: A late request

    @Test func lateRequestCountsAsLostResponseHoursLater() async throws {
        let world = try await World(
            provider: World.provider(refresh: #"{"rotation":"always","reuseBlast":"family","idleSeconds":86400}"#))
        let login = try await world.addChain()
        world.expire()
        world.transport.enqueue(.failure(.maybeSent, .timeout), .generation("2"), .error("invalid_grant"))
        _ = try await world.withTimePassing { try await world.users.accessToken(for: .login(login.id)) }
        world.time.advance(by: .seconds(7_200))
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .lostResponse)
        await #expect(try world.vault.login(login.id).failure?.reason == .lostResponse)
        await #expect(
            try world.tale().contains("loginDead reason=lostResponse suspected=lateArrival answer=400 invalid_grant"))
    }

    @Test(arguments: ["idle", "proven", "forgiven"])
    func otherwiseARefusalIsARefusal(kind: String) async throws {
        let refresh =
            kind == "forgiven"
            ? #"{"rotation":"always","reuseBlast":"none"}"#
            : #"{"rotation":"always","reuseBlast":"family","idleSeconds":86400}"#
        let world = try await World(provider: World.provider(refresh: refresh))
        let login = try await world.addChain()
        world.expire()
        world.transport.enqueue(.failure(.maybeSent, .timeout), .generation("2"))
        _ = try await world.withTimePassing { try await world.users.accessToken(for: .login(login.id)) }
        if kind == "proven" {
            world.expire()
            world.transport.enqueue(.generation("3"))
            _ = try await world.users.accessToken(for: .login(login.id))
        }
        world.time.advance(by: kind == "idle" ? .seconds(86_400) : .seconds(7_200))
        world.transport.fallback = .error("invalid_grant")
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .refreshFailed)
        await #expect(try world.vault.login(login.id).failure?.reason == .deadGrant)
    }
}
