import FoundationEssentials
import HTTPTypes
import OAuthClient
import Synchronization
import Testing
import TokenVaultTesting
import VaultStorage

@testable import TokenVault

/// A server's nonce is the client's, not one login's (RFC 9449 §8.2).
struct SharedNonceTests {
    private static let nonceField = HTTPField.Name.dpopNonce

    private func nonce(_ sent: ScriptedTransport.SentRequest) -> String? {
        guard let proof = sent.request.headerFields[HTTPField.Name.dpop],
            let claims = Base64URL.decode(proof.split(separator: ".")[1]).flatMap({ try? JSONObject(document: $0) }),
            case .string(let nonce)? = claims["nonce"]
        else { return nil }
        return nonce
    }

    /// A server that wants its one nonce, and changes it after so many uses.
    ///
    /// - Parameter clock: Then each reply takes a moment, so that requests meet each other.
    private func server(uses: Int, isBoundToKey: Bool = false, clock: ManualTimeSource? = nil) -> ScriptedReply {
        let state = Mutex((nonces: [String: Int](), used: 0, name: 0))
        return ScriptedReply { request throws(HTTPTransportError) in
            let header = request.request.headerFields[HTTPField.Name.dpop]?.split(separator: ".").first.map(String.init)
            let key = isBoundToKey ? header ?? "" : ""
            let sent = nonce(request)
            let (isGood, next, name) = state.withLock { state in
                let wanted = "\(key.suffix(24))n\(state.nonces[key] ?? 0)"
                let isGood = sent == wanted
                if isGood { state.used += 1 }
                if state.used >= uses {
                    state.nonces[key, default: 0] += 1
                    state.used = 0
                }
                state.name += 1
                return (isGood, "\(key.suffix(24))n\(state.nonces[key] ?? 0)", state.name)
            }
            try? await clock?.sleep(for: .milliseconds(100))
            let headers: HTTPFields = [Self.nonceField: next]
            let reply: ScriptedReply =
                isGood
                ? .json(
                    #"{"access_token":"CANARY-access-\#(name)","refresh_token":"CANARY-refresh-\#(name)","#
                        + #""token_type":"DPoP","expires_in":3600}"#, headers: headers)
                : .error("use_dpop_nonce", headers: headers)
            return try await reply.reply(to: request)
        }
    }

    private func renewAll(_ count: Int, _ reply: ScriptedReply) async throws -> Int {
        let world = try await World()
        for number in 0..<count {
            try await world.addChain(user: "u\(number)", name: "\(number)", dpopKey: .generate())
        }
        world.transport.fallback = reply
        for round in 0..<2 {
            if round > 0 { world.expire() }
            for number in 0..<count { _ = try await world.users.updateAccessToken(userId: "u\(number)") }
        }
        return world.transport.requestCount
    }

    @Test func whatOneLoginLearnedSparesTheNextARefusal() async throws {
        // Twelve logins, two rounds: one refusal, for the very first nonce.
        #expect(try await renewAll(12, server(uses: 3)) == 24 + 1)
    }

    @Test func whereNoncesAreBoundToKeysEachLoginKeepsItsOwn() async throws {
        // Each login learns its own once; lent ones are tried no more than a few times.
        #expect(try await renewAll(12, server(uses: .max, isBoundToKey: true)) <= 24 + 12 + 4)
    }

    private func chains(_ world: World, _ count: Int) async throws {
        for number in 0..<count {
            try await world.addChain(user: "u\(number)", name: "\(number)", dpopKey: .generate())
        }
    }

    /// Of twelve that ask together most come with a nonce that is used up, and so do their repeats.
    @Test(arguments: [1, 3, 5])
    func aNonceThatChangesEveryFewUsesFailsNoDueLogin(_ uses: Int) async throws {
        let world = try await World()
        try await chains(world, 12)
        world.transport.fallback = server(uses: uses, clock: world.time)
        world.expire()
        let report = try await world.withTimePassing {
            try await RenewalScheduler(world.users, options: SchedulerOptions(concurrency: 16)).runOnce()
        }
        #expect(report.outcomes == [.renewed: 12])
        #expect(world.transport.requestCount <= 36)
        for number in 0..<12 {
            await #expect(try world.users.validAccessToken(for: .user("u\(number)")) != nil)
        }
        // Each time that a refresh token travelled is on record.
        let kinds = try await world.vault.store.auditEntries(after: 0, limit: 1_000).map(\.kind)
        let sent = kinds.count { $0 == .renewalStarted || $0 == .renewalRepeated }
        #expect(sent == world.transport.requestCount)
        #expect(!kinds.contains(.renewalFailed))
    }

    @Test func sixtyFourCallersEachGetATokenWithinTheBudget() async throws {
        let world = try await World()
        try await chains(world, 64)
        world.transport.fallback = server(uses: 3, clock: world.time)
        world.expire()
        let start = world.time.uptime()
        let names = try await world.withTimePassing {
            try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<64 {
                    group.addTask { try await world.users.accessToken(userId: "u\(number)").name }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
        }
        #expect(names.count == 64)
        #expect(world.time.uptime() - start < .seconds(45))
    }

    /// A server without end to its challenges gets a few requests, and no more.
    @Test func challengesWithoutEndAreAnsweredFiveTimes() async throws {
        let world = try await World()
        try await chains(world, 1)
        let count = Mutex(0)
        world.transport.fallback = ScriptedReply { request throws(HTTPTransportError) in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return try await ScriptedReply.error("use_dpop_nonce", headers: [Self.nonceField: "n\(number)"])
                .reply(to: request)
        }
        world.expire()
        #expect(await code { try await world.users.accessToken(userId: "u0") } == .tryLater)
        #expect(world.transport.requestCount == 6)
        #expect(try await world.vault.session(.user("u0")).session.failure == nil)
    }
}
