import FoundationEssentials
import HTTPTypes
import OAuthClient
import TestSupport
import Testing
import TokenVaultTesting
import VaultStorage

@testable import TokenVault

/// The session states of social.plus, in detail; its sentences are in OtherSDKs.
struct SocialPlusStateTests {
    @Test func theStatesAreReadable() async throws {
        let world = try await World()
        await #expect(try world.users.sessionState(of: .user("alice")) == .notLoggedIn)
        let login = try await world.addChain()
        await #expect(try world.users.sessionState(of: .login(login.id)) == .established)
        await #expect(try world.users.sessionState(of: .user("alice")) == .established)
        world.expire()
        await #expect(try world.users.sessionState(of: .login(login.id)) == .tokenExpired(nil))
        try await world.kill(login)
        let failure = try await world.vault.login(login.id).failure
        #expect(failure != nil)
        await #expect(try world.users.sessionState(of: .login(login.id)) == .tokenExpired(failure))
        try await world.users.disableUser("alice")
        await #expect(try world.users.sessionState(of: .login(login.id)) == .terminated(.userDisabled))
        try await world.users.logOut(.login(login.id), revokes: false)
        await #expect(try world.users.sessionState(of: .login(login.id)) == .notLoggedIn)
    }

    /// Each change that is told is the state that is read, and the transition function makes it.
    @Test func theStatesAreObservableAndAreWhatIsRead() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let (one, user) = (await StateWatcher(world.vault, login), await StateWatcher(world.vault, .user("alice")))
        var seen: [SessionState] = []
        func step(_ action: () async throws -> Void) async throws {
            try await action()
            let told = await one.states()
            #expect(await told == user.states())
            seen += told
            await #expect(try seen.last == world.users.sessionState(of: .login(login.id)))
            await #expect(try seen.last == world.users.sessionState(of: .user("alice")))
        }
        try await step {}
        try await step { world.expire() }
        try await step {
            world.transport.enqueue(.generation("2"))
            _ = try await world.users.accessToken(for: .login(login.id))
        }
        try await step { try await world.set(login, lifetime: .seconds(-1)) }
        try await step { try await world.set(login) }
        try await step { try await world.kill(login) }
        let failure = try await world.vault.login(login.id).failure
        try await step { try await world.set(login) }
        try await step { try await world.users.disableUser("alice") }
        try await step { try await world.users.enableUser("alice") }
        try await step { try await world.users.logOut(.login(login.id), revokes: false) }
        #expect(
            seen == [
                .established, .tokenExpired(nil), .established, .tokenExpired(nil), .established,
                .tokenExpired(failure), .established, .terminated(.userDisabled), .notLoggedIn,
            ])
    }

    @Test func theCurrentStateComesFirstThenEachChange() async throws {
        let world = try await World()
        let login = try await world.addChain()
        var iterator = world.users.sessionStates(of: .login(login.id)).makeAsyncIterator()
        #expect(await iterator.next(isolation: nil) == .established)
        try await world.set(login)
        try await world.users.logOut(.login(login.id), revokes: false)
        #expect(await iterator.next(isolation: nil) == .notLoggedIn)
    }

    @Test func aLogInUnderWayIsEstablishing() async throws {
        let world = try await World()
        let states = await StateWatcher(world.vault, .user("alice"))
        let (logIn, gate) = await world.startLogIn(answer: .generation("1"))
        await #expect(try world.users.sessionState(of: .user("alice")) == .establishing)
        await #expect(states.states() == [.notLoggedIn, .establishing])
        gate.open()
        let login = try await logIn.value
        await #expect(states.states() == [.established])
        await #expect(try world.users.sessionState(of: .login(login.id)) == .established)
    }

    @Test func aLogInThatFailsIsOver() async throws {
        let world = try await World()
        let states = await StateWatcher(world.vault, .user("alice"))
        let (logIn, gate) = await world.startLogIn(answer: .error("invalid_grant"))
        await #expect(states.states() == [.notLoggedIn, .establishing])
        gate.open()
        _ = try? await logIn.value
        await #expect(states.states() == [.notLoggedIn])
        await #expect(try world.users.sessionState(of: .user("alice")) == .notLoggedIn)
    }

    @Test func aDeadLoginNeverFlagsTheUsersOthers() async throws {
        let world = try await World()
        let (first, second) = try await (world.addChain(name: "a"), world.addChain(name: "b"))
        let states = await StateWatcher(world.vault, .user("alice"))
        try await world.kill(first)
        await #expect(states.states() == [.established])
        world.expire()
        await #expect(states.states() == [.tokenExpired(nil)])
        try await world.kill(second)
        guard case .tokenExpired(_?) = try await world.users.sessionState(of: .user("alice")) else {
            Issue.record("all logins are dead")
            return
        }
        try await world.set(first)
        await #expect(states.states().last == .established)
    }

    @Test func theStateIsResumedAtStartWithoutNetwork() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(.generation("2"))
        _ = try await world.users.accessToken(for: .login(login.id), .renewed)
        let sent = world.transport.requestCount
        await world.vault.close()
        let (vault, users) = try await world.anotherProcess()
        await #expect(try users.sessionState(of: .login(login.id)) == .established)
        await #expect(StateWatcher(vault, login).states() == [.established])
        world.expire()
        let watcher = await Watcher(vault, login)
        await #expect(StateWatcher(vault, .user("alice")).states() == [.tokenExpired(nil)])
        await #expect(watcher.names() == ["willExpire 2", "expired 2"])
        #expect(world.transport.requestCount == sent)
        await vault.close()
    }

    @Test func onlyANewLogInLeadsOutOfTerminated() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.fallback = .status(.ok)
        try await world.users.disableUser("alice")
        let states = await StateWatcher(world.vault, .user("alice"))
        try await world.users.enableUser("alice")
        #expect(await code { try await world.set(login) } == .notLoggedIn)
        await #expect(states.states() == [.terminated(.userDisabled)])
        try await world.addChain(name: "new")
        await #expect(states.states() == [.established])
        await #expect(try world.users.sessionState(of: .login(login.id)) == .terminated(.userDisabled))
    }

    @Test func theReasonsAreAnOpenSet() {
        let known: [TerminationReason] = [.userDisabled, .globalBan, .userDeleted, .unauthorized]
        #expect(known.map(\.description) == ["userDisabled", "globalBan", "userDeleted", "unauthorized"])
        #expect(known.map(\.code) == [1, 2, 3, 4])
        #expect(TerminationReason(code: 200).description == "unknown")
    }

    @Test func thePhaseTellsWhatGoesOnInside() async throws {
        let world = try await World()
        let login = try await world.addChain()
        func phase() async throws -> SessionPhase? { try await world.users.sessionPhase(of: .login(login.id)) }
        await #expect(try phase() == .fresh)
        world.time.advance(by: .seconds(3_600 - 100))
        await #expect(try phase() == .expiring)
        let gate = Gate()
        world.transport.enqueue(ScriptedReply.status(.serviceUnavailable).behind(gate))
        let renewal = Task { try await world.users.accessToken(for: .login(login.id), .renewed) }
        await world.transport.waitForRequests(1)
        await #expect(try phase() == .refreshing)
        gate.open()
        _ = try? await renewal.value
        await #expect(try phase() == .inDoubt)
        world.time.advance(by: .seconds(1_000))
        world.transport.enqueue(.generation("2"))
        _ = try await world.users.accessToken(for: .login(login.id), .renewed)
        await #expect(try phase() == .fresh)
        world.transport.enqueue(.status(.tooManyRequests))
        _ = try? await world.users.accessToken(for: .login(login.id), .renewed)
        await #expect(try phase() == .postponed)
        world.time.advance(by: .seconds(100_000))
        await #expect(try phase() == .retrying)
        try await world.kill(login)
        await #expect(try phase() == .refreshFailed)
        try await world.users.disableUser("alice")
        await #expect(try phase() == nil)
    }
}
