import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVaultTesting
import VaultCrypto
import VaultStorage

@testable import TokenVault

/// The one function that says when a login needs the scheduler.
struct DueTimeTests {
    static let epoch = Timestamp(milliseconds: 1_800_000_000_000)
    static let provider = ProviderHandle.random()

    private func session(lifetime: Duration? = .seconds(3_600)) -> SessionRecord {
        SessionRecord(
            state: .established, accessToken: SecretBytes(utf8: "CANARY-a"), createdAt: Self.epoch,
            obtainedAt: Self.epoch, expiresAt: lifetime.map { Self.epoch.advanced(by: $0) })
    }

    private let chain = RefreshRecord(refreshToken: SecretBytes(utf8: "CANARY-r"))

    private func due(
        _ session: SessionRecord, _ refresh: RefreshRecord? = nil, login: LoginHandle = .random(),
        generation: Int64 = 1, isInDoubt: Bool = false
    ) -> Duration? {
        DueTime(
            login: login, position: ChainPosition(chain: 1, generation: generation), session: session,
            refresh: refresh, provider: Self.provider, isInDoubt: isInDoubt
        ).instant.map { $0.since(Self.epoch) }
    }

    @Test(arguments: [(3_600, 300), (60, 12), (900, 180), (1_500, 300), (10, 2)])
    func aTokenIsDueBeforeAnyCallerWouldRenewIt(lifetime: Int, lead: Int) throws {
        for _ in 0..<200 {
            let due = try #require(self.due(session(lifetime: .seconds(lifetime)), chain))
            #expect(due <= .seconds(lifetime - lead))
            #expect(due >= .seconds(lifetime - 2 * lead))
        }
    }

    /// An earlier request with the refresh token before may still be on its way, from a process that died for instance.
    @Test(
        "a token that followed a doubt is not due for a minute, or until callers would renew it",
        arguments: [
            (20, 16, 16), (60, 48, 48), (75, 60, 60), (90, 60, 72), (200, 120, 160), (3_600, 3_000, 3_300),
        ])
    func tokenAfterADoubtIsNotDueForAMinute(lifetime: Int, from: Int, to: Int) throws {
        for _ in 0..<200 {
            var session = session(lifetime: .seconds(lifetime))
            let usual = try #require(self.due(session, chain))
            session.cameAfterDoubt = true
            let due = try #require(self.due(session, chain))
            #expect(due >= .seconds(from) && due <= .seconds(to), "\(due), usually \(usual)")
        }
        let login = LoginHandle.random()
        var late = session()
        let usual = due(late, chain, login: login)
        late.cameAfterDoubt = true
        #expect(due(late, chain, login: login) == usual)
        // A login whose token was rejected does not wait.
        late.rejectedGeneration = 1
        #expect(due(late, chain) == .zero)
    }

    @Test func jitterDependsOnLoginAndGenerationOnly() {
        let login = LoginHandle.random()
        #expect(due(session(), chain, login: login) == due(session(), chain, login: login))
        // Five minutes to choose from: some of twenty generations differ.
        #expect(Set((1...20).map { due(session(), chain, login: login, generation: $0) }).count > 1)
        // In whole minutes, and in none of them more than a third of all.
        let all = (0..<1_000).compactMap { _ in due(session(), chain).map { Int($0 / .seconds(60)) } }
        let minutes = Dictionary(grouping: all, by: { $0 }).mapValues(\.count)
        #expect(minutes.keys.allSatisfy { (50..<55).contains($0) })
        #expect(minutes.count >= 4 && minutes.values.allSatisfy { $0 < 333 }, "\(minutes)")
    }

    /// The instant stands in plain text, and the spread follows from the handle beside it.
    @Test(arguments: [(3_600.0, 60), (1_500, 60), (900, 10), (300, 10), (60, 1), (10, 1)])
    func dueTimeIsNoMorePreciseThanTheExpiry(lifetime: Double, grain: Int64) throws {
        for _ in 0..<200 {
            let end = lifetime + .random(in: 0..<0.999)
            let due = try #require(self.due(session(lifetime: .milliseconds(Int64(end * 1_000))), chain))
            #expect(Self.epoch.advanced(by: due).milliseconds % (grain * 1_000) == 0, "\(due)")
        }
        var refresh = chain
        refresh.refreshExpiresAt = Self.epoch.advanced(by: .milliseconds(60 * 86_400_000 + 12_345))
        let keepAlive = try #require(self.due(self.session(lifetime: nil), refresh))
        #expect(Self.epoch.advanced(by: keepAlive).milliseconds % 60_000 == 0)
    }

    @Test func theDeadTheEndedAndTheDoubtfulAreNotDue() {
        var dead = session()
        dead.failure = FailureRecord(reason: RefreshFailure.Reason.deadGrant.code, at: Self.epoch)
        #expect(due(dead) == nil)
        var waiting = session()
        waiting.failure = FailureRecord(reason: FailureRecord.needsUserCode, at: Self.epoch)
        #expect(due(waiting, chain) == nil)
        var ended = session()
        ended.state = .terminated
        #expect(due(ended, chain) == nil)
        #expect(due(session(), chain, isInDoubt: true) == nil)
    }

    @Test func aPostponedLoginIsDueWhenItsTimeHasCome() {
        var session = session()
        session.notBefore = Self.epoch.advanced(by: .seconds(3_550))
        #expect(due(session, chain) == .seconds(3_550))
        session.notBefore = Self.epoch.advanced(by: .seconds(1))
        #expect(due(session, chain).map { $0 > .seconds(2_999) } == true)
    }

    @Test func aTokenThatWasRejectedOrIsMissingIsDueAtOnce() {
        var rejected = session()
        rejected.rejectedGeneration = 1
        #expect(due(rejected, chain) == .zero)
        var missing = session()
        missing.accessToken = nil
        #expect(due(missing, chain) == .zero)
    }

    @Test func tokensWithoutExpiryAreNotDue() {
        #expect(due(session()) != nil)
        #expect(due(session(lifetime: nil)) == nil)
        #expect(due(session(lifetime: nil), chain) == nil)
    }

    @Test func aRefreshTokenIsUsedBeforeItDiesOfDisuse() throws {
        var refresh = chain
        refresh.refreshExpiresAt = Self.epoch.advanced(by: .seconds(60 * 86_400))
        let due = try #require(self.due(self.session(lifetime: nil), refresh))
        #expect(due <= .seconds(53 * 86_400))
        #expect(due >= .seconds(49 * 86_400))
        // The access token's own end comes first, where there is one.
        #expect(self.due(session(), refresh).map { $0 < .seconds(3_600) } == true)
    }

    @Test func anEndThatNoUseMovesIsNotRunAfter() throws {
        // Each use leaves a fifth to a third of what was left; after a few of them nothing more is tried.
        var refresh = chain
        var session = session(lifetime: nil)
        let end = Self.epoch.advanced(by: .seconds(365 * 86_400))
        refresh.refreshExpiresAt = end
        var uses = 0
        while let due = self.due(session, refresh), uses < 100 {
            session.obtainedAt = Self.epoch.advanced(by: due)
            uses += 1
        }
        #expect((1...14).contains(uses), "\(uses) uses")
    }

    @Test func everyWriteLeavesTheLoginDueWhenItIs() async throws {
        let world = try await World()
        let login = try await world.addChain()
        func check(_ step: String) async throws {
            let stored = try await world.vault.store.login(login.id.handle)
            #expect(stored.dueAt == stored.nextDue, "\(step)")
        }
        try await check("added")
        world.expire()
        world.transport.enqueue(.generation("2"))
        _ = try await world.users.accessToken(userId: "alice")
        try await check("renewed")
        #expect(try await world.vault.store.login(login.id.handle).dueAt.map { $0 > world.vault.now } == true)
        world.expire()
        world.transport.enqueue(.status(.tooManyRequests, headers: [.retryAfter: "120"]))
        _ = await code { try await world.users.accessToken(userId: "alice") }
        try await check("postponed")
        #expect(
            try await world.vault.store.login(login.id.handle).dueAt.map { $0.since(world.vault.now) } == .seconds(132))
        try await world.users.updateAccessToken(
            for: .login(login.id), accessToken: Sample.accessToken("3"), expiresAt: world.now.addingTimeInterval(60))
        try await check("updated")
        world.expire()
        world.transport.enqueue(.json(#"{"error":"invalid_grant"}"#, status: .badRequest))
        _ = await code { try await world.users.accessToken(userId: "alice") }
        try await check("dead")
        #expect(try await world.vault.store.login(login.id.handle).dueAt == nil)
        try await world.users.updateAccessToken(
            for: .login(login.id), accessToken: Sample.accessToken("4"), expiresAt: world.now.addingTimeInterval(60))
        await #expect(try world.vault.store.login(login.id.handle).dueAt != nil)
        try await world.users.disableUser("alice")
        #expect(try await world.vault.store.login(login.id.handle).dueAt == nil)
    }
}
