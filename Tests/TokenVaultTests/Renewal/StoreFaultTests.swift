import EngineSupport
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVaultTesting
import VaultCrypto
import VaultStorage

import TokenVault

/// The disk fails at the worst moments. No token that was received may be lost, and none sent twice.
@Suite(.tags(.everyEngine))
struct StoreFaultTests {
    /// The same world, with a store that can fail and no spool that works.
    private func makeFaulty(_ world: World) async throws -> (FaultyStore, UserManager) {
        let process = try await world.faulty()
        process.store.spoolFails = true
        return (process.store, process.users)
    }

    @Test(arguments: [1, 7, 60])
    func newTokensAreKeptUntilTheyCanBeStored(failures: Int) async throws {
        let world = try await World()
        let login = try await world.addChain()
        let (store, users) = try await makeFaulty(world)
        store.fail(Array(repeating: .before, count: failures), afterCommits: 1)
        world.transport.enqueue(.generation("2"), .generation("3"))
        world.expire()
        let token = try await world.withTimePassing { try await users.accessToken(for: .login(login.id)) }
        #expect(token.name == "2")
        #expect(store.failedCommits == failures)
        #expect(world.transport.requestCount == 1)
        await #expect(try world.vault.login(login.id).generation == 2)
        #expect(try await users.accessToken(for: .login(login.id), .renewed).name == "3")
        #expect(world.transport.requests.last?.form["refresh_token"] == "CANARY-refresh-2")
    }

    @Test func noCallerGetsATokenThatIsNotStored() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let (store, users) = try await makeFaulty(world)
        store.fail(Array(repeating: .before, count: 1_000_000), afterCommits: 1)
        world.transport.enqueue(.generation("2"))
        world.expire()
        await world.withTimePassing {
            #expect(
                await code { try await users.accessToken(for: .login(login.id), TokenRequest(deadline: .seconds(20))) }
                    == .deadlineExceeded
            )
        }
        #expect(try await world.vault.login(login.id).generation == 1)
        store.fail([], afterCommits: 0)
        let token = try await world.withTimePassing { try await users.accessToken(for: .login(login.id)) }
        #expect(token.name == "2")
        #expect(world.transport.requestCount == 1)
    }

    @Test func commitReportedAsFailedIsNotRepeated() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let (store, users) = try await makeFaulty(world)
        store.fail([.after], afterCommits: 1)
        world.transport.enqueue(.generation("2"))
        world.expire()
        let token = try await world.withTimePassing { try await users.accessToken(for: .login(login.id)) }
        #expect(token.name == "2")
        #expect(token.generation == 2)
        #expect(world.transport.requestCount == 1)
        #expect(
            try await world.vault.store.login(login.id.handle).refresh?.previousRefresh?.string() == "CANARY-refresh-1")
    }

    @Test func withoutADurableIntentNothingIsSent() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let (store, users) = try await makeFaulty(world)
        store.fail([.before], afterCommits: 0)
        world.expire()
        #expect(await code { try await users.accessToken(for: .login(login.id)) } == .storageFull)
        #expect(world.transport.requestCount == 0)
    }

    @Test func intentReportedAsFailedBlocksNoCaller() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let (store, users) = try await makeFaulty(world)
        store.fail([.after], afterCommits: 0)
        world.expire()
        #expect(await code { try await users.accessToken(for: .login(login.id)) } == .storageFailed)
        #expect(world.transport.requestCount == 0)
        world.transport.enqueue(.generation("2"))
        #expect(try await users.accessToken(for: .login(login.id)).name == "2")
    }

    @Test func aDeathThatCannotBeWrittenIsFoundAgain() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let (store, users) = try await makeFaulty(world)
        store.fail(Array(repeating: .before, count: 5), afterCommits: 1)
        world.transport.fallback = .error("invalid_grant")
        world.expire()
        try await world.withTimePassing {
            #expect(await code { try await users.accessToken(for: .login(login.id)) } == .refreshFailed)
            let unflagged = try await world.vault.login(login.id).failure
            #expect(unflagged == nil)
            // This process knows that nothing was lost: the server has just said so.
            #expect(await code { try await users.accessToken(for: .login(login.id)) } == .refreshFailed)
        }
        #expect(try await world.vault.login(login.id).failure?.reason == .deadGrant)
        #expect(world.transport.requestCount == 2)
    }

    @Test func aLogInIsStoredEvenIfTheDiskIsFullForAMoment() async throws {
        let world = try await World()
        let (store, users) = try await makeFaulty(world)
        store.fail([.before, .before], afterCommits: 0)
        world.transport.enqueue(.generation("1"))
        let login = try await world.withTimePassing {
            try await users.logIn(
                LogInRequest(userId: "alice", provider: "acme"), authorizationCode: AuthorizationCode("CANARY-code"),
                codeVerifier: .random())
        }
        #expect(login.generation == 1)
        #expect(try await users.accessToken(userId: "alice").name == "1")
        #expect(world.transport.requestCount == 1)
    }

    @Test func aLogInThatCannotBeStoredIsRevoked() async throws {
        let world = try await World()
        let (store, users) = try await makeFaulty(world)
        store.fail(Array(repeating: .before, count: 100), afterCommits: 0)
        world.transport.enqueue(.generation("1"), .status(.ok))
        await world.withTimePassing {
            #expect(
                await code {
                    try await users.logIn(
                        LogInRequest(userId: "alice", provider: "acme"),
                        authorizationCode: AuthorizationCode("CANARY-code"), codeVerifier: .random())
                } == .storageFull)
        }
        #expect(world.transport.requests.last?.form["token"] == "CANARY-refresh-1")
    }
}
