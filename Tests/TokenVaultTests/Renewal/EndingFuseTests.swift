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

/// A provider that ends one login after the other.
@Suite(.tags(.everyEngine))
struct EndingFuseTests {
    /// Refuses refresh tokens of these chains, and renews all others; chains are named by what stands before a dot.
    func refuse(_ dead: @escaping @Sendable (String) -> Bool, in world: World) {
        world.transport.fallback = ScriptedReply { request throws(HTTPTransportError) in
            let token = request.form["refresh_token"].map { String($0.dropFirst("CANARY-refresh-".count)) } ?? ""
            let name = String(token.prefix { $0 != "." })
            let next = "\(name).\(UInt32.random(in: 0...UInt32.max))"
            let reply: ScriptedReply = dead(name) ? .error("invalid_grant") : .generation(next)
            return try await reply.reply(to: request)
        }
    }

    func chains(_ count: Int, in world: World) async throws -> [Login] {
        var logins: [Login] = []
        for index in 0..<count { logins.append(try await world.addChain(user: "user\(index)", name: "\(index)")) }
        return logins
    }

    func dead(_ logins: [Login], in world: World) async throws -> Int {
        try await logins.asyncCount { try await world.vault.login($0.id).failure != nil }
    }

    // MARK: False ends

    @Test func aFalseRefusalOfEverybodyEndsEightAtMost() async throws {
        let world = try await World()
        let logins = try await chains(12, in: world)
        refuse({ _ in true }, in: world)
        world.expire()
        await withTaskGroup(of: Void.self) { group in
            for login in logins { group.addTask { _ = try? await world.users.accessToken(for: .login(login.id)) } }
        }
        #expect(try await dead(logins, in: world) == 8)
        #expect(try await world.vault.stoppedProviders().map(\.ended) == [8])
        // The others wait with all that they have.
        var waiting: [Login] = []
        for login in logins where try await world.vault.login(login.id).failure == nil { waiting.append(login) }
        for login in waiting {
            #expect(try await world.vault.store.login(login.id.handle).refresh?.refreshToken != nil)
        }
        // The provider is good again: one after the other is renewed, and nothing is lost.
        refuse({ _ in false }, in: world)
        world.time.advance(by: .seconds(600))
        for login in waiting {
            world.time.advance(by: .seconds(60))
            #expect(await code { try await world.users.accessToken(for: .login(login.id), .renewed) } == nil)
        }
        #expect(try await world.vault.stoppedProviders().isEmpty)
        await #expect(try world.tale().contains { $0.hasPrefix("providerResumed") })
    }

    /// The same for processes that start afterwards.
    @Test func anotherProcessKnowsThatItIsStopped() async throws {
        let world = try await World()
        let logins = try await chains(10, in: world)
        refuse({ _ in true }, in: world)
        world.expire()
        for login in logins { _ = try? await world.users.accessToken(for: .login(login.id)) }
        #expect(try await dead(logins, in: world) == 8)
        let other = try await world.anotherProcess()
        world.time.advance(by: .seconds(60))
        let error = await failure { try await other.users.accessToken(for: .login(logins[9].id)) }
        #expect(error?.code == .tryLater)
        #expect(error?.message.contains("ended many logins in a row") == true)
        world.time.advance(by: .seconds(600))
        _ = try? await other.users.accessToken(for: .login(logins[9].id))
        #expect(try await dead(logins, in: world) == 8)
        await other.vault.close()
    }

    @Test func anOperatorBelievesIt() async throws {
        let world = try await World()
        let logins = try await chains(12, in: world)
        refuse({ _ in true }, in: world)
        world.expire()
        for login in logins { _ = try? await world.users.accessToken(for: .login(login.id)) }
        #expect(try await dead(logins, in: world) == 8)
        #expect(try await world.vault.acceptDeaths(ofProvider: "acme"))
        for login in logins {
            world.time.advance(by: .seconds(60))
            _ = try? await world.users.accessToken(for: .login(login.id))
        }
        #expect(try await dead(logins, in: world) == 12)
        #expect(try await !world.vault.acceptDeaths(ofProvider: "acme"))
    }

    @Test func asManyAsAreSaid() async throws {
        var registration = Sample.provider()
        registration.mostDeaths = 2
        let world = try await World(provider: registration)
        let logins = try await chains(5, in: world)
        refuse({ _ in true }, in: world)
        world.expire()
        for login in logins { _ = try? await world.users.accessToken(for: .login(login.id)) }
        #expect(try await dead(logins, in: world) == 2)
        var change = ProviderChange()
        change.mostDeaths = .set(0)
        try await world.vault.updateProvider(named: "acme", change)
        for login in logins {
            world.time.advance(by: .seconds(60))
            _ = try? await world.users.accessToken(for: .login(login.id))
        }
        #expect(try await dead(logins, in: world) == 5)
    }

    @Test func aRenewalBetweenMakesItCoincidence() async throws {
        let world = try await World()
        let logins = try await chains(24, in: world)
        refuse({ Int($0).map { $0 % 3 > 0 } ?? false }, in: world)
        world.expire()
        for login in logins { _ = try? await world.users.accessToken(for: .login(login.id)) }
        #expect(try await dead(logins, in: world) == 16)
        #expect(try await world.vault.stoppedProviders().isEmpty)
    }

    // MARK: What is usual

    @Test func aRunThatChanceExplainsIsNone() {
        var endings = ProviderEndings()
        #expect(EndingFuse.limit(least: 8, endings) == 8)
        (endings.endedBefore, endings.renewedBefore) = (1, 1_000)
        #expect(EndingFuse.limit(least: 8, endings) == 8)
        (endings.endedBefore, endings.renewedBefore) = (50, 50)
        #expect(EndingFuse.limit(least: 8, endings) == 20)
        (endings.endedBefore, endings.renewedBefore) = (90, 10)
        #expect((100...200).contains(EndingFuse.limit(least: 8, endings)))
        // Too few to say.
        (endings.endedBefore, endings.renewedBefore) = (40, 2)
        #expect(EndingFuse.limit(least: 8, endings) == 8)
    }

    // MARK: Keeping what was ended

    @Test func whatIsKeptCanBeRevivedForAWhile() async throws {
        var registration = Sample.provider()
        registration.daysEndedIsKept = 3
        let world = try await World(provider: registration)
        let logins = try await chains(2, in: world)
        refuse({ _ in true }, in: world)
        world.expire()
        for login in logins {
            #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .refreshFailed)
        }
        let first = logins[0].id
        #expect(try await world.vault.login(first).failure?.reason == .deadGrant)
        try await world.users.revive(.login(first))
        refuse({ _ in false }, in: world)
        #expect(await code { try await world.users.accessToken(for: .login(first)) } == nil)
        // After that it is gone, and with it the way back.
        world.time.advance(by: .seconds(3 * 86_400 + 60))
        _ = try await world.withTimePassing { try await RenewalScheduler(world.users).runOnce() }
        #expect(try await world.vault.store.login(logins[1].id.handle).refresh == nil)
        #expect(await code { try await world.users.revive(.login(logins[1].id)) } == .notRefreshable)
    }

    @Test func aKeyIsDestroyedAtOnceAllTheSame() async throws {
        var registration = Sample.provider()
        registration.daysEndedIsKept = 3
        let world = try await World(provider: registration)
        let login = try await world.addChain(dpopKey: .generate())
        refuse({ _ in true }, in: world)
        _ = try? await world.users.accessToken(for: .login(login.id), .renewed)
        let stored = try await world.vault.store.login(login.id.handle)
        #expect(stored.key == nil)
        #expect(stored.refresh == nil)
    }

    // MARK: A property

    /// False ends for everybody, at any moment, with any number of logins, processes and calls in flight: never more than the
    /// fuse lets through, and it is reported.
    @Test(arguments: 0..<Depth.pick(brief: 8, nightly: 60, deep: 600))
    func neverMoreThanTheFuse(_ seed: Int) async throws {
        var random = SplitMix(seed: UInt64(seed))
        let world = try await World()
        let logins = try await chains(Int.random(in: 9...24, using: &random), in: world)
        let other = try await world.anotherProcess()
        refuse({ _ in false }, in: world)
        for login in logins where Bool.random(using: &random) {
            _ = try? await world.users.accessToken(for: .login(login.id), .renewed)
        }
        refuse({ _ in true }, in: world)
        for _ in 0..<6 {
            // One process at a time: with a clock that stands still, none waits for the other's renewal.
            let users = Bool.random(using: &random) ? world.users : other.users
            let called = (0..<logins.count).map { _ in logins.randomElement(using: &random) ?? logins[0] }
            await withTaskGroup(of: Void.self) { group in
                for login in called {
                    group.addTask { _ = try? await users.accessToken(for: .login(login.id), .renewed) }
                }
            }
            world.time.advance(by: .seconds(Int.random(in: 1...900, using: &random)))
        }
        let ended = try await dead(logins, in: world)
        #expect(ended <= 8, "seed \(seed)")
        #expect(try await (ended == 8) == !world.vault.stoppedProviders().isEmpty, "seed \(seed)")
        // Good again: everybody else is renewed.
        refuse({ _ in false }, in: world)
        for _ in 0..<3 {
            world.time.advance(by: .seconds(1_000))
            for login in logins { _ = try? await world.users.accessToken(for: .login(login.id), .renewed) }
        }
        #expect(try await world.vault.stoppedProviders().isEmpty, "seed \(seed)")
        for login in logins where try await world.vault.login(login.id).failure == nil {
            #expect(try await world.vault.login(login.id).lastRefusal == nil, "seed \(seed)")
        }
        await other.vault.close()
    }
}

/// The same numbers for the same seed.
private struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// The error that `body` throws; nil if it throws none.
private func failure<R>(of body: () async throws -> R) async -> VaultError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? VaultError
    }
}
