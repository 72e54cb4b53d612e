import FoundationEssentials
import HTTPTypes
import OAuthClient
import Synchronization
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultStorage

@testable import TokenVault

/// Dead logins hold up no living ones, in whatever words their provider refuses them.
struct SchedulerStarvationTests {
    /// Answers `dead…` with a refusal, and counts the others that were renewed.
    private func serve(_ refusal: ScriptedReply, in world: World) {
        world.transport.fallback = ScriptedReply { request throws(HTTPTransportError) in
            let token = request.form["refresh_token"].map { String($0.dropFirst("CANARY-refresh-".count)) } ?? ""
            let reply = token.hasPrefix("dead") ? refusal : .generation(token + "x")
            return try await reply.reply(to: request)
        }
    }

    private func arrange(dead: Int, good: Int, in world: World) async throws -> [LoginID] {
        for index in 0..<dead { try await world.addChain(user: "dead\(index)", name: "dead\(index)") }
        var living: [LoginID] = []
        for index in 0..<good {
            living.append(try await world.addChain(user: "good\(index)", name: "good\(index)").id)
        }
        world.expire()
        return living
    }

    @Test(arguments: ["invalid_grant", "unauthorized_client", "invalid_request"], [(4, 3), (20, 5)])
    func allLivingOnesAreRenewedWithinTwoMinutes(_ code: String, _ count: (dead: Int, good: Int)) async throws {
        let world = try await World()
        serve(.error(code), in: world)
        let living = try await arrange(dead: count.dead, good: count.good, in: world)
        try await world.scheduling { _ in
            for _ in 0..<120 {
                await world.pass(upTo: .seconds(1))
                let open = try await living.asyncCount {
                    try await world.vault.store.login($0.handle).position.generation == ChainPosition.first.generation
                }
                if open == 0 { break }
            }
        }
        for login in living {
            #expect(try await world.vault.login(login).state == .established, "\(code)")
        }
    }

    /// A provider that is stopped is asked by one login every two seconds at most, though each that it refuses waits longer.
    @Test func aStoppedProviderIsProbedByOneLoginAfterTheOther() async throws {
        let world = try await World()
        serve(.error("invalid_grant"), in: world)
        var living: [LoginID] = []
        for index in 0..<5 { living.append(try await world.addChain(user: "good\(index)", name: "good\(index)").id) }
        // The later ones probe first.
        world.time.advance(by: .seconds(1))
        _ = try await arrange(dead: 20, good: 0, in: world)
        for index in 0..<EndingFuse.usualMost {
            _ = try? await world.users.accessToken(userId: "dead\(index)")
        }
        #expect(try await world.vault.stoppedProviders().map(\.ended) == [EndingFuse.usualMost])
        try await world.scheduling { _ in
            await world.pass(upTo: .seconds(60))
        }
        for login in living { #expect(try await world.vault.login(login).state == .established) }
    }

    /// Whoever was refused, it was one moment: the provider is asked again after half a minute, not after a quarter of an hour.
    @Test(arguments: [1, 3, 20])
    func aMomentOfInvalidClientIsOneFailure(_ count: Int) async throws {
        let world = try await World()
        let start = world.time.uptime()
        let firstGood = FirstTime()
        let time = world.time
        world.transport.fallback = ScriptedReply { request throws(HTTPTransportError) in
            let elapsed = time.uptime() - start
            // The time that the world has passed before anything was sent does not count.
            if elapsed - .seconds(3_601) < .seconds(3) {
                return try await ScriptedReply.error("invalid_client").reply(to: request)
            }
            firstGood.note(elapsed - .seconds(3_601))
            return try await ScriptedReply.generation("new").reply(to: request)
        }
        _ = try await arrange(dead: 0, good: count, in: world)
        try await world.scheduling { _ in
            await world.pass(upTo: .seconds(90)) { firstGood.value != nil }
        }
        // Two moments would make it a minute, three a minute and a half.
        #expect(try #require(firstGood.value) < .seconds(60))
    }
}

/// The first of several moments.
private final class FirstTime: Sendable {
    private let noted = Mutex<Duration?>(nil)

    var value: Duration? { noted.withLock { $0 } }

    func note(_ time: Duration) { noted.withLock { $0 = $0 ?? time } }
}
