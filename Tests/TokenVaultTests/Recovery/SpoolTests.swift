import EngineSupport
import FoundationEssentials
import OAuthClient
import TestSupport
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultCrypto
import VaultStorage

@testable import TokenVault

/// Replies that the vault cannot take when they come.
@Suite(.tags(.everyEngine))
struct SpoolTests {
    private static let always = [FaultyStore.Fault](repeating: .before, count: 1_000_000)

    /// A process with a reply in the spool that it cannot store.
    private func worldWithSpooledReply(
        _ spool: MemorySpools?
    ) async throws -> (world: World, login: Login, process: FaultyProcess) {
        let world = try await World()
        let login = try await world.addChain()
        let process = try await world.anotherFaulty(spool: spool)
        process.store.fail(Self.always, afterCommits: 1)
        world.transport.enqueue(.generation("2"))
        world.expire()
        let token = try await process.users.accessToken(for: .login(login.id))
        #expect(token.name == "2")
        #expect(token.isVolatile)
        #expect(token.generation == 2)
        return (world, login, process)
    }

    /// The process is killed: nobody holds the locks that its intent and its spool name.
    private func kill(_ world: World, _ login: Login, _ spool: MemorySpools) async throws {
        spool.orphanAll()
        let gone = world.goneOwner
        try await world.vault.store.updateLogin(login.id.handle) { $0.intent?.owner = gone }
    }

    private func pending(_ world: World) async throws -> [String?] {
        try await world.vault.store.outbox(after: nil, limit: 100).map { listing in
            try #require(listing.entry).record.refreshToken?.string()
        }
    }

    @Test func spooledTokensServeCallersAndAreStoredLater() async throws {
        let spool = MemorySpools()
        let (world, login, process) = try await worldWithSpooledReply(spool)
        #expect(spool.entries.count == 1)
        await #expect(try world.vault.login(login.id).generation == 1)
        await #expect(try process.users.validAccessToken(for: .login(login.id)) == nil)
        #expect(try await process.users.accessToken(for: .login(login.id)).isVolatile)
        // Nobody is given more than there is.
        #expect(
            await code {
                try await process.users.accessToken(
                    for: .login(login.id), TokenRequest(minimumValidity: .seconds(7_000), deadline: .zero))
            } == nil)
        process.store.fail([], afterCommits: 0)
        try await world.withTimePassing {
            while try await world.vault.login(login.id).generation == 1 || !spool.entries.isEmpty, !Task.isCancelled {
                await Task.yield()
            }
        }
        let token = try await process.users.accessToken(for: .login(login.id))
        #expect(!token.isVolatile)
        #expect(token.name == "2")
        #expect(world.transport.requestCount == 1)
        await process.vault.close()
    }

    @Test func spooledTokensAreStoredAtTheNextOpening() async throws {
        let spool = MemorySpools()
        let (world, login, _) = try await worldWithSpooledReply(spool)
        try await kill(world, login, spool)
        let next = try await world.anotherFaulty(spool: spool)
        #expect(spool.entries.isEmpty)
        await #expect(try next.users.validAccessToken(for: .login(login.id))?.name == "2")
        #expect(world.transport.requestCount == 1)
        await #expect(try world.tale().contains("renewed from=spool"))
        await next.vault.close()
    }

    @Test func whoTakesOverLooksIntoTheSpoolFirst() async throws {
        let spool = MemorySpools()
        let (world, login, _) = try await worldWithSpooledReply(spool)
        let other = try await world.anotherFaulty(spool: spool)
        try await kill(world, login, spool)
        // A strict server would end the chain at the second sight of the old token.
        world.transport.fallback = .error("invalid_grant")
        #expect(try await other.users.accessToken(for: .login(login.id)).name == "2")
        #expect(world.transport.requestCount == 1)
        await other.vault.close()
    }

    /// Its owner dies after the look into the spool and before the intent is written.
    @Test func anOwnerThatDiesWhileItIsTakenOverIsLookedAtAgain() async throws {
        let spool = MemorySpools()
        let (world, login, _) = try await worldWithSpooledReply(spool)
        let other = try await world.anotherFaulty(spool: spool)
        other.store.beforeUpdate {
            other.store.beforeUpdate(nil)
            try? await self.kill(world, login, spool)
        }
        world.transport.fallback = .error("invalid_grant")
        let token = try await world.withTimePassing { try await other.users.accessToken(for: .login(login.id)) }
        #expect(token.name == "2")
        #expect(world.transport.requestCount == 1)
        await other.vault.close()
    }

    @Test func whatIsSpooledOfALivingProcessIsItsOwn() async throws {
        let spool = MemorySpools()
        let (world, login, process) = try await worldWithSpooledReply(spool)
        let other = try await world.anotherFaulty(spool: spool)
        #expect(try await other.users.recover().restoredReplies == 0)
        #expect(try await process.users.recover().restoredReplies == 0)
        #expect(spool.entries.count == 1)
        #expect(try await world.vault.login(login.id).generation == 1)
        await other.vault.close()
    }

    private enum End: CaseIterable { case loggedOut, disabled, newChain, erased }

    @Test func ofALoginThatIsOverTheyAreRevokedOnce() async throws {
        for end in End.allCases {
            let spool = MemorySpools()
            let (world, login, _) = try await worldWithSpooledReply(spool)
            try await kill(world, login, spool)
            let entry = try #require(spool.entries.first?.reply)
            switch end {
            case .loggedOut: _ = try await world.users.logOut(.login(login.id))
            case .disabled: _ = try await world.users.disableUser("alice")
            case .erased: _ = try await world.users.eraseUser("alice")
            case .newChain:
                try await world.users.updateAccessToken(
                    for: .login(login.id), accessToken: Sample.accessToken("n"), expiresAt: nil,
                    refreshToken: Sample.refreshToken("n"))
            }
            var options = World.options
            options.retriesRevocationsInBackground = false
            let next = try await world.anotherFaulty(spool: spool, options: options)
            #expect(spool.entries.isEmpty, "\(end)")
            await #expect(try pending(world).count { $0 == "CANARY-refresh-2" } == 1, "\(end)")
            // A crash after the commit leaves the entry: it is found again.
            _ = spool.add(entry, owner: IntentRecord.nobody, root: world.vault.store.context.primaryRoot)
            #expect(try await next.users.recover().restoredReplies == 1)
            await #expect(try pending(world).count { $0 == "CANARY-refresh-2" } == 1, "\(end)")
            if end == .newChain {
                await #expect(try world.stored(login).refresh?.refreshToken?.string() == "CANARY-refresh-n")
            }
            await next.vault.close()
        }
    }

    @Test func anEntryThatIsStoredAlreadyChangesNothing() async throws {
        let spool = MemorySpools()
        let (world, login, _) = try await worldWithSpooledReply(spool)
        try await kill(world, login, spool)
        let entry = try #require(spool.entries.first?.reply)
        let next = try await world.anotherFaulty(spool: spool)
        for round in 3...5 {
            _ = spool.add(entry, owner: IntentRecord.nobody, root: world.vault.store.context.primaryRoot)
            let before = try await world.stored(login)
            #expect(try await next.users.recover().restoredReplies == 1)
            await #expect(try world.stored(login) == before)
            await #expect(try pending(world) == [])
            world.transport.enqueue(.generation("\(round)"))
            _ = try await next.users.accessToken(for: .login(login.id), .renewed)
        }
        await next.vault.close()
    }

    private enum Rotation: CaseIterable { case rotated, kept }

    /// The vault was put back to before the token for which the reply was given. What it has of that token is spent.
    @Test func aReplyThatIsNewerThanTheVaultTakesItsPlace() async throws {
        for rotation in Rotation.allCases {
            let spool = MemorySpools()
            let world = try await World()
            let login = try await world.addChain()
            let stored = try await world.stored(login)
            try await world.vault.store.holdAllLogins(AuditEvent(.witnessReplaced))
            let now = world.time.timestamp
            let reply = SpooledReply(
                login: stored.handle, user: stored.user, provider: stored.provider,
                position: stored.position.successor.successor, fence: 77,
                accessToken: SecretBytes(utf8: "CANARY-access-9"), tokenType: "Bearer", obtainedAt: now,
                expiresAt: now.advanced(by: .seconds(3_600)),
                refreshToken: rotation == .rotated ? SecretBytes(utf8: "CANARY-refresh-9") : nil)
            _ = spool.add(reply, owner: IntentRecord.nobody, root: world.vault.store.context.primaryRoot)
            let next = try await world.anotherFaulty(spool: spool)
            #expect(spool.entries.isEmpty)
            let taken = try await world.stored(login)
            #expect(taken.isHeld)
            #expect(taken.position == stored.position.successor.successor.successor)
            #expect(taken.session.accessToken?.string() == "CANARY-access-9")
            let newest = rotation == .rotated ? "CANARY-refresh-9" : "CANARY-refresh-1"
            #expect(taken.refresh?.refreshToken?.string() == newest)
            #expect(taken.session.cameAfterDoubt)
            await #expect(try pending(world) == [])
            // A reply of before that comes even later is not taken.
            var earlier = reply
            earlier.position = stored.position.successor
            earlier.refreshToken = SecretBytes(utf8: "CANARY-refresh-8")
            _ = spool.add(earlier, owner: IntentRecord.nobody, root: world.vault.store.context.primaryRoot)
            #expect(try await next.users.recover().restoredReplies == 1)
            await #expect(try world.stored(login).refresh?.refreshToken?.string() == newest)
            world.expire()
            #expect(await code { try await next.users.accessToken(for: .login(login.id)) } == .held)
            #expect(world.transport.requestCount == 0)
            _ = try await world.vault.store.acceptRestored([login.id.handle]) { _ in }
            world.transport.enqueue(.generation("10"))
            #expect(try await next.users.accessToken(for: .login(login.id)).name == "10")
            #expect(world.transport.requests.map { $0.form["refresh_token"] } == [newest])
            await next.vault.close()
        }
    }

    @Test func closingReturnsOnceTheyAreSpooled() async throws {
        let (world, login, process) = try await worldWithSpooledReply(nil)
        await world.withTimePassing { await process.vault.close() }
        #expect(try await world.vault.login(login.id).generation == 1)
        #expect(try await world.vault.diagnosis().spool.entries == 1)
        #expect(try await world.users.recover().restoredReplies == 1)
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "2")
        #expect(world.transport.requestCount == 1)
        #expect(try await world.vault.diagnosis().spool.entries == 0)
    }

    @Test func closingReturnsEvenIfTheyAreLost() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let process = try await world.anotherFaulty()
        process.store.spoolFails = true
        process.store.fail(Self.always, afterCommits: 1)
        world.transport.enqueue(.generation("2"))
        world.expire()
        let call = Task { await code { try await process.users.accessToken(for: .login(login.id)) } }
        await world.transport.waitForRequests(1)
        await world.withTimePassing { await process.vault.close() }
        _ = await call.value
        #expect(process.store.failedCommits >= CloseBackoff.triesWithout)
        #expect(world.logs.text.contains("new tokens are lost"))
    }

    @Test func aProcessThatMayNotWriteAnyMoreLeavesThemInTheSpool() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let spool = MemorySpools()
        let process = try await world.anotherFaulty(spool: spool)
        process.store.fail([.lost], afterCommits: 1)
        world.transport.enqueue(.generation("2"))
        world.expire()
        #expect(await code { try await process.users.accessToken(for: .login(login.id)) } == .ownershipLost)
        #expect(spool.entries.count == 1)
        try await kill(world, login, spool)
        let next = try await world.anotherFaulty(spool: spool)
        #expect(try await next.users.accessToken(for: .login(login.id)).name == "2")
        #expect(world.transport.requestCount == 1)
        await next.vault.close()
    }
}
