import EngineSupport
import Foundation
import HTTPTypes
import Logging
import OAuthClient
import Synchronization
import TestSupport
import Testing
import TokenVaultTesting

import TokenVault
import VaultAdministration

/// Every secret of the tests carries a marker. Nowhere outside the sealed cells may it be found.
@Suite(.tags(.everyEngine))
struct CanaryTests {
    private static let userId = "CANARY-user-alice"

    /// Every value given out and every error met.
    private final class Findings: Sendable {
        private let texts = Mutex<[String]>([])

        var all: [String] { texts.withLock { $0 } }

        func show(_ value: Any) {
            var dumped = ""
            dump(value, to: &dumped)
            let rendered = ["\(value)", String(reflecting: value), dumped]
            texts.withLock { $0 += rendered }
        }

        func attempt<R>(_ body: () async throws -> R) async {
            do { show(try await body()) } catch { show(error) }
        }
    }

    /// A life with everything in it.
    private func live(_ world: World, _ handler: RecordingHandler) async throws -> Findings {
        let seen = Findings()
        let users = world.users
        let login = try await world.addChain(user: Self.userId, dpopKey: .generate())
        await seen.attempt { try await users.beginLogIn(LogInRequest(userId: Self.userId, provider: "acme")).binding }
        await seen.attempt { try await users.accessToken(for: .login(login.id)) }
        world.transport.enqueue(
            .tokens(accessToken: "CANARY-access-2", refreshToken: "CANARY-refresh-2", tokenType: "DPoP"),
            .json(
                #"{"error":"invalid_request","error_description":"CANARY-refresh-2 is no good","x":"CANARY-y"}"#,
                status: .badRequest),
            .status(.ok, body: "CANARY-garbage"), .status(.ok, body: "CANARY-garbage"),
            .json(#"{"error":"invalid_grant","error_description":"CANARY-refresh-2"}"#, status: .badRequest),
            .status(.serviceUnavailable, body: "CANARY-refresh-2"))
        await seen.attempt { try await users.accessToken(for: .login(login.id), .renewed) }
        await seen.attempt { try await users.accessToken(for: .login(login.id), .renewed) }
        world.time.advance(by: .seconds(60))
        await world.withTimePassing {
            await seen.attempt { try await users.accessToken(for: .login(login.id), .renewed) }
        }
        world.time.advance(by: .seconds(60))
        await seen.attempt { try await users.accessToken(for: .login(login.id), .renewed) }
        let second = try await world.addChain(user: Self.userId, name: "other")
        await seen.attempt { try await users.accessToken(userId: Self.userId) }
        await seen.attempt { try await users.logOut(.login(second.id)) }
        let plain = try await world.addPlainLogin(user: "CANARY-user-bob", name: "plain")
        handler.enqueue { _, _ in throw RefreshFailedError() }
        world.expire()
        await seen.attempt { try await users.accessToken(for: .login(plain.id)) }
        await seen.attempt { try await users.accessToken(userId: "CANARY-user-nobody") }
        await seen.attempt { try await users.disableUser(Self.userId) }
        await seen.attempt { try await world.vault.status() }
        await seen.attempt { try await world.vault.providerEntries() }
        await seen.attempt { try await world.vault.keySlots() }
        seen.show(KeySource.passphrase(Passphrase("CANARY-passphrase")))
        return seen
    }

    @Test func noSecretIsInALogAnErrorAValueOrAFile() async throws {
        let handler = RecordingHandler()
        let world = try await World(handler: handler)
        let seen = try await live(world, handler)
        #expect(seen.all.count >= 45)
        for text in seen.all { #expect(!text.contains(Sample.marker), "a value shows a secret or a user") }
        #expect(!world.logs.text.isEmpty)
        #expect(!world.logs.text.contains(Sample.marker))
        let marker = Data(Sample.marker.utf8)
        let stored = try world.temporary.content()
        for (name, data) in stored { #expect(data.range(of: marker) == nil, "\(name) holds a secret in the clear") }
        #expect(stored.count >= 5)
        #expect(stored.reduce(0) { $0 + $1.content.count } > 10_000)
    }

    @Test func normalWorkLogsNothingAboveDebug() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(.generation("2"), .status(.ok))
        world.expire()
        _ = try await world.users.accessToken(for: .login(login.id))
        _ = try await world.users.logOut(.login(login.id))
        #expect(try #require(world.logs.loudest) <= .debug)
    }
}
