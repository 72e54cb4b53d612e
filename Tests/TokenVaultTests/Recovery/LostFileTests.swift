import EngineSupport
import FoundationEssentials
import OAuthClient
import Testing
import TokenVaultTesting
import VaultCrypto
import VaultStorage

@testable import TokenVault

/// Files beside the vault that are taken away, and a schema that changes, in the middle of a renewal.
struct LostFileTests {
    enum Loss: CaseIterable {
        case removed, moved, replacedByEmpty, replacedByCopy
    }

    private func lose(_ path: String, _ loss: Loss) throws {
        let files = FileManager.default
        switch loss {
        case .removed: try files.removeItem(atPath: path)
        case .moved: try files.moveItem(atPath: path, toPath: path + "-moved")
        case .replacedByEmpty:
            try files.removeItem(atPath: path)
            _ = files.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
        case .replacedByCopy:
            try files.copyItem(atPath: path, toPath: path + "-copy")
            try files.removeItem(atPath: path)
            try files.moveItem(atPath: path + "-copy", toPath: path)
        }
    }

    /// A reply is on its way to a process whose lock file goes. Nobody else sends the refresh token meanwhile.
    @Test(.aboutFiles("the lock is a file"), arguments: Loss.allCases)
    func aTokenOnItsWayIsNotSentTwice(loss: Loss) async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.expire()
        let sending = try await world.anotherProcess()
        let gate = Gate()
        world.transport.enqueue(.generation("late").behind(gate), .generation("second"))
        let call = Task { try await sending.users.accessToken(for: .login(login.id)).name }
        await world.transport.waitForRequests(1)
        try lose(world.temporary.address + ".lock", loss)
        let newcomer = try await world.anotherProcess()
        await world.withTimePassing {
            #expect(await code { try await newcomer.users.accessToken(for: .login(login.id)) } == .refreshStalled)
        }
        #expect(try await newcomer.users.recover().settledRenewals == 0)
        #expect(world.transport.requestCount == 1)
        gate.open()
        #expect(try await call.value == "late")
        #expect(try await newcomer.users.accessToken(for: .login(login.id)).name == "late")
        #expect(world.transport.requestCount == 1)
        await sending.vault.close()
        await newcomer.vault.close()
    }

    /// Who sees that others do not see it any more sends nothing.
    @Test(.aboutFiles("the lock is a file"), arguments: Loss.allCases)
    func nothingIsSentWithoutTheLockFile(loss: Loss) async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.expire()
        try lose(world.temporary.address + ".lock", loss)
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .ownershipLost)
        #expect(world.transport.requestCount == 0)
        let newcomer = try await world.anotherProcess()
        world.transport.enqueue(.generation("2"))
        #expect(try await newcomer.users.accessToken(for: .login(login.id)).name == "2")
        #expect(world.transport.requestCount == 1)
        await newcomer.vault.close()
    }

    /// What a call comes to if a newer version takes the vault over before the reply comes. Its vault is closed then.
    private func result<R: Sendable>(
        of call: Task<R, any Error>, in vault: Vault, whenTakenOver world: World, before reply: Gate
    ) async throws -> R {
        let intruder = try world.temporary.intruder()
        try intruder.setSchemaVersion(intruder.schemaVersion + 1)
        reply.open()
        return try await world.withTimePassing {
            let result = try await call.value
            await vault.close()
            return result
        }
    }

    /// The tokens come when the vault belongs to a newer version: they are kept beside it for whoever opens it next.
    @Test func tokensThatComeUnderANewerSchemaAreSpooled() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.expire()
        let old = try await world.anotherProcess()
        let gate = Gate()
        world.transport.enqueue(.generation("late").behind(gate))
        let call = Task { try await old.users.accessToken(for: .login(login.id)).name }
        await world.transport.waitForRequests(1)
        #expect(try await result(of: call, in: old.vault, whenTakenOver: world, before: gate) == "late")
        #expect(await code { try await world.users.accessToken(for: .login(login.id), .renewed) } == .newerSchema)
        #expect(world.transport.requestCount == 1)
        await world.withTimePassing { await world.vault.close() }
        // As the newer version would.
        let intruder = try world.temporary.intruder()
        try intruder.setSchemaVersion(intruder.schemaVersion)
        let next = try await world.temporary.openAgain()
        let users = try await UserManager(vault: next, transport: world.transport, options: World.options)
        await #expect(try next.store.login(login.id.handle).refresh?.refreshToken?.string() == "CANARY-refresh-late")
        #expect(try await users.accessToken(for: .login(login.id)).name == "late")
        #expect(world.transport.requestCount == 1)
        await next.close()
    }

    /// Another process has renewed since the caller looked, and the newer version came during the renewal that followed.
    @Test func whatComesUnderANewerSchemaIsJudgedByItself() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.expire()
        let old = try await world.anotherProcess()
        let seen = try await old.vault.session(.login(login.id.handle))
        world.transport.enqueue(.generation("2", expiresIn: 1))
        #expect(try await world.users.accessToken(for: .login(login.id), .renewed).generation == 2)
        world.expire()
        let gate = Gate()
        world.transport.enqueue(.generation("late").behind(gate))
        let call = Task {
            try await old.users.engine.renewedToken(seen, demand: .validity(nil), deadline: nil)
        }
        await world.transport.waitForRequests(2)
        let token = try await result(of: call, in: old.vault, whenTakenOver: world, before: gate)
        #expect(token.name == "late")
        #expect(token.generation == 3)
        #expect(token.isVolatile)
        await world.withTimePassing { await world.vault.close() }
    }
}
