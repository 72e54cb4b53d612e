import EngineSupport
import FoundationEssentials
import HTTPTypes
import Logging
import OAuthClient
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing
import TokenVaultTesting
import VaultAdministration

@testable import TokenVault

/// One service opens everything and closes it in order.
struct VaultServiceTests {
    /// Says what was no longer possible when it was shut down.
    private final class WatchedTransport: HTTPTransport {
        let scripted = ScriptedTransport()
        let vault = Mutex<Vault?>(nil)
        /// For each shutdown whether the vault was closed by then.
        let shutdowns = Mutex<[Bool]>([])

        func send(
            _ request: HTTPRequest, body: [UInt8], limits: HTTPLimits
        ) async throws(HTTPTransportError) -> HTTPReply {
            try await scripted.send(request, body: body, limits: limits)
        }

        func shutdown() async {
            let vault = vault.withLock { $0 }
            var isClosed = false
            if let vault { isClosed = await code(of: { try await vault.status() }) == .closed }
            shutdowns.withLock { $0.append(isClosed) }
        }
    }

    /// A service on a vault that has a login of alice which is due.
    private struct Scene {
        let world: World
        let transport = WatchedTransport()
        let service: VaultService

        init(scheduler: SchedulerOptions? = .init()) async throws {
            world = try await World()
            try await world.addChain()
            world.expire()
            service = try await VaultService(
                in: world.temporary.location, unlockedBy: .keyFile(world.temporary.keyFile), transport: transport,
                options: VaultServiceOptions(
                    vault: VaultOptions(timeSource: world.time), users: World.options, scheduler: scheduler))
            let opened = service.vault
            transport.vault.withLock { $0 = opened }
        }

        var shutdowns: [Bool] { transport.shutdowns.withLock { $0 } }

        /// What another process finds.
        var stored: String? {
            get async throws { try await world.users.validAccessToken(for: .user("alice"))?.name }
        }
    }

    @Test("a graceful shutdown stores running renewals, then closes the vault, then the transport")
    func gracefulShutdownOrder() async throws {
        let scene = try await Scene()
        let gate = Gate()
        scene.transport.scripted.fallback = ScriptedReply.generation("new").behind(gate)
        let group = ServiceGroup(services: [scene.service], logger: Logger(label: "test"))
        let task = Task { try await group.run() }
        await scene.transport.scripted.waitForRequests(1)
        await group.triggerGracefulShutdown()
        for _ in 0..<100 { await Task.yield() }
        #expect(scene.shutdowns.isEmpty)
        gate.open()
        try await task.value
        #expect(scene.shutdowns == [true])
        #expect(scene.transport.scripted.requestCount == 1)
        #expect(try await scene.stored == "new")
    }

    @Test func aCancelledTaskClosesEverythingToo() async throws {
        let scene = try await Scene()
        let gate = Gate()
        scene.transport.scripted.fallback = ScriptedReply.generation("new").behind(gate)
        let task = Task { try await scene.service.run() }
        await scene.transport.scripted.waitForRequests(1)
        task.cancel()
        gate.open()
        try await task.value
        #expect(scene.shutdowns == [true])
        #expect(try await scene.stored == "new")
    }

    @Test func closingTheVaultEndsTheService() async throws {
        let scene = try await Scene(scheduler: nil)
        let task = Task { try await scene.service.run() }
        await scene.service.vault.close()
        try await task.value
        #expect(scene.shutdowns == [true])
    }

    @Test func withoutASchedulerNothingIsSentByItself() async throws {
        let scene = try await Scene(scheduler: nil)
        scene.transport.scripted.fallback = .generation("new")
        let task = Task { try await scene.service.run() }
        for _ in 0..<100 { await Task.yield() }
        #expect(scene.transport.scripted.requestCount == 0)
        #expect(try await scene.service.users.accessToken(userId: "alice").name == "new")
        task.cancel()
        try await task.value
    }

    @Test func withoutAGroupItIsClosedOnce() async throws {
        let scene = try await Scene()
        async let first: Void = scene.service.close()
        async let second: Void = scene.service.close()
        _ = await (first, second)
        #expect(scene.shutdowns == [true])
        // What is closed does not run.
        #expect(await code { try await scene.service.run() } == .closed)
        #expect(scene.shutdowns == [true])
    }

    @Test func whatCannotBeOpenedLeavesNoTransport() async throws {
        let world = try await World()
        let transport = WatchedTransport()
        let result = await code {
            try await VaultService(
                in: world.temporary.newLocation(), unlockedBy: .keyFile(world.temporary.keyFile), transport: transport)
        }
        #expect(result == .vaultMissing)
        #expect(transport.shutdowns.withLock { $0 } == [false])
    }
}
