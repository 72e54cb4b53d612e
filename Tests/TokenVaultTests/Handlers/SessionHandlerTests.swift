import FoundationEssentials
import OAuthClient
import TestSupport
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultStorage

import TokenVault

/// What a session handler may do wrong, and what it may do that one would not expect.
struct SessionHandlerTests {
    private func makeWorld(
        _ handler: RecordingSessionHandler, tokenHandler: RecordingHandler? = nil
    ) async throws -> World {
        let world = try await World(handler: tokenHandler)
        world.users.setSessionHandler(handler)
        return world
    }

    @Test func oneThatHangsIsGivenUpAndAskedAgainAfterABackoff() async throws {
        let handler = RecordingSessionHandler()
        let world = try await makeWorld(handler)
        handler.enqueue { _ in try? await world.time.sleep(for: .seconds(600)) }
        try await world.addChain()
        world.expire()
        let started = world.time.uptime()
        let outcome = await world.withTimePassing { await code { try await world.users.accessToken(userId: "alice") } }
        #expect(outcome == .tryLater)
        #expect(world.time.uptime() - started >= .seconds(60))
        while handler.cancelled == 0, !Task.isCancelled { await Task.yield() }
        handler.enqueue(RecordingSessionHandler.consent)
        world.transport.enqueue(.generation("2"))
        world.time.advance(by: .seconds(1))
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
    }

    @Test func aDeadlineBoundsTheCallersWaitAndNotTheQuestion() async throws {
        let handler = RecordingSessionHandler(keeps: true)
        let world = try await makeWorld(handler)
        let login = try await world.addChain()
        world.transport.enqueue(.generation("2"))
        world.expire()
        let caller = Task {
            await code { try await world.users.accessToken(userId: "alice", deadline: .seconds(2)) }
        }
        await handler.waitForQuestion()
        await world.time.waitForSleepers(2)
        world.time.advance(by: .seconds(2))
        #expect(await caller.value == .deadlineExceeded)
        try await handler.last?.renew()
        while try await world.vault.login(login.id).generation == 1, !Task.isCancelled { await Task.yield() }
        #expect(handler.asked == 1)
    }

    @Test func aCancelledCallerLeavesTheQuestionOpen() async throws {
        let handler = RecordingSessionHandler(keeps: true)
        let world = try await makeWorld(handler)
        let login = try await world.addChain()
        world.transport.enqueue(.generation("2"))
        world.expire()
        let caller = Task { try await world.users.accessToken(userId: "alice") }
        await handler.waitForQuestion()
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        try await handler.last?.renew()
        while try await world.vault.login(login.id).generation == 1, !Task.isCancelled { await Task.yield() }
    }

    @Test func aRenewalThatIsLetGoCountsAsATransientFailure() async throws {
        let handler = RecordingSessionHandler({ _ in })
        let world = try await makeWorld(handler)
        let login = try await world.addChain()
        world.expire()
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .tryLater)
        #expect(try await world.vault.login(login.id).notBefore == world.now.addingTimeInterval(1))
    }

    @Test func theAnswerMayComeLaterFromAnywhere() async throws {
        let handler = RecordingSessionHandler(keeps: true)
        let world = try await makeWorld(handler)
        try await world.addPlainLogin()
        world.expire()
        let caller = Task { try await world.users.accessToken(userId: "alice").name }
        await handler.waitForQuestion()
        let renewal = try #require(handler.last)
        handler.forget()
        let token = try AuthToken(Sample.marker + "access-2")
        try await Task.detached { try await renewal.renewWithAuthToken(token) }.value
        #expect(try await caller.value == "2")
    }

    @Test(arguments: ["expired", "same"])
    func aTokenThatIsNoNewOneCountsAsATransientFailure(_ kind: String) async throws {
        let world = try await makeWorld(RecordingSessionHandler())
        let login = try await world.addPlainLogin()
        let handler =
            kind == "same"
            ? RecordingSessionHandler(RecordingSessionHandler.token("1"))
            : RecordingSessionHandler(
                RecordingSessionHandler.token("2", expiresAt: Date(timeIntervalSince1970: 1)))
        world.users.setSessionHandler(handler)
        let watcher = await Watcher(world.vault, login)
        world.expire()
        for _ in 0..<3 { #expect(await code { try await world.users.accessToken(userId: "alice") } == .tryLater) }
        #expect(handler.asked == 1)
        await #expect(watcher.names().contains("error(invalidArgument) 1"))
        #expect(try await world.vault.login(login.id).generation == 1)
    }

    @Test func renewWithoutRefreshTokenAsksTheRefreshHandler() async throws {
        let tokens = RecordingHandler()
        tokens.enqueue(RecordingHandler.token("2"))
        let handler = RecordingSessionHandler(RecordingSessionHandler.consent)
        let world = try await makeWorld(handler, tokenHandler: tokens)
        try await world.addPlainLogin()
        world.expire()
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
        #expect((handler.asked, tokens.asked.count) == (1, 1))
    }

    @Test("with nothing to renew with, renew() is refused and the handler may still answer")
    func renewWithoutMeansIsRefused() async throws {
        let handler = RecordingSessionHandler(keeps: true)
        let world = try await makeWorld(handler)
        try await world.addPlainLogin()
        world.expire()
        let caller = Task { await code { try await world.users.accessToken(userId: "alice") } }
        await handler.waitForQuestion()
        let renewal = try #require(handler.last)
        #expect(await errorCode { try await renewal.renew() } == .notRefreshable)
        try await renewal.unableToRetrieveAuthToken()
        #expect(await caller.value == .tryLater)
    }

    @Test func handlerAskingForItsOwnTokenIsAnError() async throws {
        let world = try await makeWorld(RecordingSessionHandler())
        try await world.addChain()
        try await world.addPlainLogin(user: "bob", name: "7")
        world.transport.enqueue(.generation("2"))
        let users = world.users
        let seen = Box<[String]>([])
        users.setSessionHandler(
            RecordingSessionHandler({ renewal in
                let early = await code { try await users.accessToken(userId: "alice") }
                let other = try? await users.accessToken(userId: "bob").name
                try? await renewal.renew()
                let late = try? await users.accessToken(userId: "alice").name
                seen.value = [early?.name ?? "none", other ?? "none", late ?? "none"]
            }))
        world.time.advance(by: .seconds(3_590))
        #expect(try await users.accessToken(userId: "alice", minimumValidity: .seconds(60)).name == "2")
        while seen.value.isEmpty, !Task.isCancelled { await Task.yield() }
        #expect(seen.value == ["conflict", "7", "2"])
    }

    @Test(arguments: ["update", "logOut"])
    func aHandlerMayChangeTheLoginInPlaceOfAnAnswer(_ change: String) async throws {
        let world = try await makeWorld(RecordingSessionHandler())
        let login = try await world.addChain()
        let users = world.users
        let expiry = world.now.addingTimeInterval(9_000)
        let answer = Box<VaultError.Code?>(nil)
        world.users.setSessionHandler(
            RecordingSessionHandler({ renewal in
                if change == "update" {
                    _ = try? await users.updateAccessToken(
                        for: .login(login.id), accessToken: Sample.accessToken("2"), expiresAt: expiry)
                } else {
                    _ = try? await users.logOut(.login(login.id), revokes: false)
                }
                answer.value = await errorCode { try await renewal.renew() }
            }))
        world.expire()
        let outcome = await code { try await users.accessToken(for: .login(login.id)) }
        #expect(outcome == (change == "update" ? nil : .unknownLogin))
        while answer.value == nil, !Task.isCancelled { await Task.yield() }
        #expect(answer.value == .renewalVoid)
        #expect(world.transport.requestCount == 0)
    }

    @Test func aDoubtIsSettledWithoutAsking() async throws {
        let handler = RecordingSessionHandler()
        let world = try await makeWorld(handler)
        let login = try await world.addChain()
        try await world.leaveIntent(login)
        world.transport.enqueue(.generation("2"))
        world.expire()
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
        #expect(handler.asked == 0)
    }

    /// Nothing was sent while the app was asked: whoever comes next asks again, and nothing is replayed.
    @Test func aProcessThatDiesWhileTheAppIsAskedLeavesNoDoubt() async throws {
        let handler = RecordingSessionHandler(RecordingSessionHandler.unable)
        let world = try await makeWorld(handler)
        let login = try await world.addChain()
        try await world.leaveIntent(login, tries: 0)
        world.expire()
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .tryLater)
        #expect(handler.asked == 1)

        try await world.leaveIntent(login, tries: 0)
        world.time.advance(by: .seconds(660))
        #expect(try await world.users.recover().settledRenewals == 1)
        await #expect(try world.stored(login).intent == nil)

        let intent = try await world.leaveIntent(login, owner: world.vault.store.owner, tries: 0)
        try await world.users.takeOver(.login(login.id))
        await #expect(try world.stored(login).intent == nil)
        #expect(intent > 0)
        #expect(world.transport.requestCount == 0)
    }

    /// The app has agreed: that the machine is too slow to send the request is no reason to ask it again.
    @Test func aRenewalThatIsGivenBackUnsentIsNotAskedForAgain() async throws {
        let handler = RecordingSessionHandler(RecordingSessionHandler.consent, RecordingSessionHandler.unable)
        let world = try await World()
        let login = try await world.addChain()
        let process = try await world.faulty()
        process.users.setSessionHandler(handler)
        process.store.beforeSending { look in
            if look <= 4 { world.time.advance(by: .seconds(2 << look)) }
        }
        world.transport.enqueue(.generation("2"))
        world.expire()
        #expect(
            try await process.users.accessToken(for: .login(login.id), TokenRequest(deadline: .seconds(600))).name
                == "2")
        #expect(handler.asked == 1)
        // The next one is another renewal.
        world.expire()
        #expect(await code { try await process.users.accessToken(for: .login(login.id)) } == .tryLater)
        #expect(handler.asked == 2)
    }

    /// One login's handler asks for another login's token, whose handler asks for the first one's.
    @Test func handlersThatWouldWaitForEachOtherGetAnError() async throws {
        var options = World.options
        options.handlerTimeLimit = nil
        let world = try await World()
        let users = try await UserManager(vault: world.vault, transport: world.transport, options: options)
        for user in ["alice", "bob", "carol"] { try await world.addPlainLogin(user: user, name: user) }
        let next = ["alice": "bob", "bob": "carol", "carol": "alice"]
        let refused = Box<[String]>([])
        let answer: RecordingSessionHandler.Answer = { renewal in
            let user = renewal.userId
            let code = await code { try await users.accessToken(userId: next[user] ?? "") }
            if code == .conflict { refused.value.append(user) }
            await RecordingSessionHandler.token(user + "-2")(renewal)
        }
        users.setSessionHandler(RecordingSessionHandler(Array(repeating: answer, count: 3)))
        world.expire()
        #expect(try await users.accessToken(userId: "alice").name == "alice-2")
        #expect(refused.value == ["carol"])
        #expect(try await users.accessToken(userId: "carol").name == "carol-2")
    }

    @Test func tokensForSingleResourcesAreRenewedWithoutAsking() async throws {
        let handler = RecordingSessionHandler()
        let world = try await makeWorld(handler)
        try await world.addChain()
        world.transport.enqueue(.generation("2"))
        #expect(
            try await world.users.accessToken(for: .user("alice"), TokenRequest(resource: "https://api.example/")).name
                == "2")
        #expect(handler.asked == 0)
    }

    @Test func twoProcessesAskOnce() async throws {
        let handler = RecordingSessionHandler(keeps: true)
        let world = try await makeWorld(handler)
        try await world.addChain()
        let other = try await world.anotherProcess(handler)
        world.transport.enqueue(.generation("2"))
        world.expire()
        let callers = [world.users, other.users].map { users in
            Task { try await users.accessToken(userId: "alice").name }
        }
        await handler.waitForQuestion()
        let renewal = try #require(handler.last)
        // By the test itself, of which the clock does not know: so before time passes.
        try await renewal.renew()
        let names = try await world.withTimePassing { [try await callers[0].value, try await callers[1].value] }
        #expect(names == ["2", "2"])
        #expect(handler.asked == 1)
    }
}
