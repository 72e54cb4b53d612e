import HTTPTypes
import OAuthClient
import Synchronization
import TestSupport
import Testing
import TokenVaultTesting
import VaultStorage

@testable import TokenVault

// What is reported of it, and which ends count.
extension EndingFuseTests {
    /// To those who listen, and to those who come later, but not to those who asked for one login.
    @Test func itIsReportedWhenAProviderIsStoppedAndGoesOn() async throws {
        let world = try await World()
        let logins = try await chains(18, in: world)
        let (all, ofOne) = (world.users.events(), world.users.events(of: .login(logins[0].id)))
        refuse({ _ in true }, in: world)
        world.expire()
        for login in logins { _ = try? await world.users.accessToken(for: .login(login.id)) }
        refuse({ _ in false }, in: world)
        world.time.advance(by: .seconds(1_000))
        #expect(await code { try await world.users.accessToken(for: .login(logins[17].id), .renewed) } == nil)
        refuse({ _ in true }, in: world)
        for login in logins { _ = try? await world.users.accessToken(for: .login(login.id), .renewed) }
        #expect(try await world.vault.acceptDeaths(ofProvider: "acme"))
        let expected: [SessionEvent.Kind] = [
            .providerStopped(name: "acme", ended: 8), .providerResumed(name: "acme"),
            .providerStopped(name: "acme", ended: 8), .providerResumed(name: "acme"),
        ]
        let stored = try await world.vault.storedEvents(after: .start, limit: 10_000).events
        #expect(stored.map(\.kind).filter(\.isOfProvider) == expected)
        #expect(stored.allSatisfy { $0.cursor != nil })
        let past = try await world.vault.pastEvents(login: nil, userId: nil, limit: 1_000)
        #expect(past.map(\.kind).filter(\.isOfProvider) == expected)
        let one = SessionRef.login(logins[0].id)
        let ofLogin = try await world.vault.storedEvents(after: .start, of: one, limit: 10_000).events
        #expect(ofLogin.map(\.kind).filter(\.isOfProvider).isEmpty)
        await world.vault.close()
        #expect(await kinds(all) == expected)
        #expect(await kinds(ofOne).isEmpty)
    }

    private func kinds(_ events: some AsyncSequence<SessionEvent, Never>) async -> [SessionEvent.Kind] {
        var kinds: [SessionEvent.Kind] = []
        for await event in events where event.kind.isOfProvider { kinds.append(event.kind) }
        return kinds
    }

    /// A machine that fails in the middle of its renewals says nothing about the provider: neither do such ends stop it, nor do
    /// they make ends usual.
    @Test func endsThatALostReplyExplainsDoNotCount() async throws {
        let world = try await World()
        var lost: [Login] = []
        for index in 0..<50 { lost.append(try await world.addChain(user: "lost\(index)", name: "lost\(index)")) }
        let logins = try await chains(12, in: world)
        let asked = Mutex<Set<String>>([])
        world.transport.fallback = ScriptedReply { request throws(HTTPTransportError) in
            let token = request.form["refresh_token"] ?? ""
            let isLost = token.contains("lost") && asked.withLock { $0.insert(token).inserted }
            let reply: ScriptedReply = isLost ? .failure(.maybeSent, .timeout) : .error("invalid_grant")
            return try await reply.reply(to: request)
        }
        world.expire()
        for _ in 0..<2 {
            for login in lost {
                _ = await world.withTimePassing { try? await world.users.accessToken(for: .login(login.id)) }
            }
        }
        #expect(try await dead(lost, in: world) == 50)
        #expect(try await world.tale().filter { $0.hasPrefix("loginDead reason=lostResponse") }.count == 50)
        #expect(try await world.vault.stoppedProviders().isEmpty)
        // Between what was and what comes.
        let good = try await world.addChain(user: "good", name: "good")
        refuse({ $0 != "good" }, in: world)
        #expect(await code { try await world.users.accessToken(for: .login(good.id), .renewed) } == nil)
        for login in logins { _ = try? await world.users.accessToken(for: .login(login.id)) }
        #expect(try await dead(logins, in: world) == 8)
        #expect(try await world.vault.stoppedProviders().map(\.ended) == [8])
    }
}

extension SessionEvent.Kind {
    fileprivate var isOfProvider: Bool {
        switch self {
        case .providerStopped, .providerResumed: true
        default: false
        }
    }
}
