import EngineSupport
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultStorage

@testable import TokenVault

/// The last look before a refresh token is sent.
@Suite(.tags(.everyEngine))
struct RecheckTests {
    /// For good, as after a fork, or until a server is reached again.
    @Test(arguments: [
        (VaultError.Code.ownershipLost, StoreError.ownershipLost), (.busy, StoreError(.busy, "out of reach")),
    ])
    func aProcessThatOthersTakeForDeadSendsNothing(_ expected: VaultError.Code, _ loss: StoreError) async throws {
        let world = try await World()
        let login = try await world.addChain()
        let process = try await world.faulty()
        process.store.loseLock(loss)
        world.expire()
        #expect(await code { try await process.users.accessToken(for: .login(login.id)) } == expected)
        #expect(world.transport.requestCount == 0)
        await #expect(try world.stored(login).intent == nil)
    }

    @Test func aLockThatIsLostAfterTheIntentStopsTheRequest() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let process = try await world.faulty()
        process.store.afterCommit { commit in
            if commit == 1 { process.store.loseLock() }
        }
        world.expire()
        do {
            _ = try await process.users.accessToken(for: .login(login.id))
            Issue.record("a renewal without a lock")
        } catch let error as VaultError {
            #expect(error.code == .ownershipLost)
            #expect(error.hint != nil)
        }
        #expect(world.transport.requestCount == 0)
        // Nothing was sent, so nothing is in doubt.
        await #expect(try world.stored(login).intent == nil)
    }

    /// How long the commit of the intent took is no reason not to send: what it says is looked at again then.
    @Test func aSlowDiskDelaysAndDoesNotPrevent() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let process = try await world.faulty()
        process.store.afterCommit { _ in world.time.advance(by: .seconds(20)) }
        world.transport.enqueue(.generation("2"))
        world.expire()
        #expect(try await process.users.accessToken(for: .login(login.id)).name == "2")
        #expect(world.transport.requestCount == 1)
        await #expect(try world.tale().count { $0 == "renewalStarted" } == 1)
    }

    @Test func anIntentThatIsTooOldIsGivenBackAndWrittenAnew() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let process = try await world.faulty()
        process.store.beforeSending { look in
            if look == 1 { world.time.advance(by: .seconds(2)) }
        }
        world.transport.enqueue(.generation("2"))
        world.expire()
        #expect(try await process.users.accessToken(for: .login(login.id)).name == "2")
        #expect(world.transport.requestCount == 1)
        await #expect(try world.tale().contains("renewalFailed cause=notSent"))
        await #expect(try !world.vault.login(login.id).isInDoubt)
    }

    /// A machine whose reads are slow too has twice the time at each further try.
    @Test func aProcessThatIsSlowGetsThere() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let process = try await world.faulty()
        process.store.beforeSending { _ in world.time.advance(by: .seconds(10)) }
        world.transport.enqueue(.generation("2"))
        world.expire()
        if let limit = process.store.longestWayToRequest {
            // For others this process may be dead by then: it does not get twice the time, and sends nothing.
            #expect(limit < .seconds(10))
            #expect(await code { try await process.users.accessToken(for: .login(login.id)) } == .tryLater)
            #expect(world.transport.requestCount == 0)
            return
        }
        #expect(try await process.users.accessToken(for: .login(login.id)).name == "2")
        await #expect(try world.tale().count { $0 == "renewalFailed cause=notSent" } == 3)
        #expect(world.transport.requestCount == 1)
    }

    @Test func aProcessThatIsAlwaysTooSlowGivesUpWithoutARequest() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let process = try await world.faulty()
        process.store.beforeSending { _ in world.time.advance(by: .seconds(20)) }
        world.expire()
        #expect(await code { try await process.users.accessToken(for: .login(login.id)) } == .tryLater)
        #expect(world.transport.requestCount == 0)
        await #expect(try world.stored(login).intent == nil)
        // Four times, then half a minute is over.
        await #expect(try world.tale().count { $0 == "renewalStarted" } == 4)
    }

    /// One renewal gives an intent back three times at most. Who waits is not told of it.
    @Test func aProcessThatIsTooSlowForAWhileGoesOn() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let process = try await world.faulty()
        process.store.beforeSending { look in
            if look < 6 { world.time.advance(by: .seconds(16)) }
        }
        world.transport.enqueue(.generation("2"))
        world.expire()
        #expect(
            try await process.users.accessToken(for: .login(login.id), TokenRequest(deadline: .seconds(600))).name
                == "2")
        #expect(world.transport.requestCount == 1)
        await #expect(try world.tale().count { $0 == "renewalFailed cause=notSent" } == 5)
    }

    /// Others may use a new token, and see it refused, before one who waited for it gets to read it.
    @Test func tokenRejectedBeforeDeliveryIsRenewedAgain() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let process = try await world.faulty()
        process.store.afterCommit { commit in
            guard commit == 2 else { return }
            try? await world.vault.store.updateLogin(login.id.handle) { state in
                state.session.reject(.own, state.position.generation)
            }
        }
        world.transport.enqueue(.generation("2"), .generation("3"))
        world.expire()
        #expect(try await process.users.accessToken(for: .login(login.id)).name == "3")
        #expect(world.transport.requestCount == 2)
    }

    @Test func aLogOutAfterTheIntentStopsTheRequest() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let process = try await world.faulty()
        world.transport.enqueue(.status(.ok))
        process.store.afterCommit { commit in
            if commit == 1 { _ = try? await world.users.logOut(.login(login.id)) }
        }
        world.expire()
        #expect(await code { try await process.users.accessToken(for: .login(login.id)) } == .unknownLogin)
        #expect(world.transport.requests.map(\.path) == ["/revoke"])
    }

    @Test func providerChangedAfterTheIntentIsUsedAsChanged() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let process = try await world.faulty()
        process.store.afterCommit { commit in
            guard commit == 1, let stored = try? await world.vault.store.provider(named: "acme") else { return }
            var record = stored.record
            record.tokenEndpoint = "https://acme.example/other"
            _ = try? await world.vault.store.putProvider(record, replacing: stored.handle)
        }
        world.transport.enqueue(.generation("2"))
        world.expire()
        #expect(try await process.users.accessToken(for: .login(login.id)).name == "2")
        #expect(world.transport.requests.map(\.path) == ["/other"])
    }

    @Test func aTokenThatTheAppSetsAfterTheIntentIsTakenInstead() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let process = try await world.faulty()
        let later = world.now.addingTimeInterval(9_000)
        process.store.afterCommit { commit in
            guard commit == 1 else { return }
            _ = try? await world.users.updateAccessToken(
                for: .login(login.id), accessToken: Sample.accessToken("app"), expiresAt: later)
        }
        world.expire()
        #expect(try await process.users.accessToken(for: .login(login.id)).name == "app")
        #expect(world.transport.requestCount == 0)
    }

    /// A nonce is fetched first, or was refused: until the reply is there, much may happen to a login.
    @Test(arguments: [true, false])
    func aTokenWhoseTimeIsOverDoesNotFollowAnotherRequest(isFetched: Bool) async throws {
        var registration = Sample.provider()
        registration.dpop = .required
        if isFetched {
            registration.profileDocument = Array(
                """
                {"profile":1,"name":"own","source":[{"url":"https://acme.example/","read":"2026-11-21"}],
                "dpop":{"usage":"required","requiresNonce":true}}
                """.utf8)
        }
        let world = try await World(provider: registration)
        let login = try await world.addChain(dpopKey: .generate())
        let process = try await world.faulty()
        let answer = Gate()
        world.transport.enqueue(.error("use_dpop_nonce", headers: [.dpopNonce: "n-1"]).behind(answer))
        world.expire()
        let caller = Task { await code { try await process.users.accessToken(for: .login(login.id)) } }
        await world.transport.waitForRequests(1)
        process.store.loseLock()
        answer.open()
        #expect(await caller.value == (isFetched ? .ownershipLost : .tryLater))
        #expect(world.transport.requestCount == 1)
        // Where the token has not travelled, nothing is in doubt.
        await #expect(try (world.stored(login).intent == nil) == isFetched)
        #expect(world.transport.requests.count { $0.form["refresh_token"] != nil } == (isFetched ? 0 : 1))
    }

    @Test func attemptTakenOverBeforeItsRequestSendsNothing() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let process = try await world.anotherFaulty()
        process.store.afterCommit { commit in
            if commit == 1 { try? await world.users.takeOver(.login(login.id)) }
        }
        world.transport.enqueue(.generation("2"))
        world.expire()
        // Its call begins again, in doubt now, as everybody's would.
        #expect(try await process.users.accessToken(for: .login(login.id)).name == "2")
        #expect(world.transport.requestCount == 1)
        await #expect(try world.tale().contains("intentTakenOver cause=takenOver"))
        await process.vault.close()
    }
}
