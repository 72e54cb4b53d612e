import EngineSupport
import FoundationEssentials
import OAuthClient
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultStorage

@testable import TokenVault

/// Events that are told at least once, over restarts.
@Suite(.tags(.everyEngine))
struct StoredEventTests {
    private func events(_ vault: Vault, after cursor: EventCursor = .start) async throws -> [SessionEvent] {
        var (found, cursor) = ([SessionEvent](), cursor)
        while true {
            let page = try await vault.storedEvents(after: cursor, limit: 3)
            found += page.events
            cursor = page.cursor
            if page.isLast { return found }
        }
    }

    @Test func everyDeathNeedAndRecoveryIsToldInOrder() async throws {
        let world = try await World()
        let login = try await world.addChain()
        try await world.kill(login)
        try await world.set(login, "2")
        try await world.users.updateAccessToken(
            for: .login(login.id), accessToken: Sample.accessToken("3"), refreshToken: Sample.refreshToken("3"))
        world.transport.enqueue(.error("interaction_required"))
        _ = try? await world.users.updateAccessToken(userId: "alice")
        try await world.users.revive(.login(login.id))
        world.transport.fallback = .status(.ok)
        try await world.users.terminate(.login(login.id), reason: .globalBan)
        let found = try await events(world.vault)
        #expect(
            found.map(\.kind.name) == [
                "stateChanged", "refreshFailed", "stateChanged", "updated", "recovered", "stateChanged", "updated",
                "error", "recovered", "stateChanged",
            ])
        #expect(found.allSatisfy { $0.login == login.id && $0.userId == "alice" && $0.cursor != nil })
        #expect(found.last?.kind == .stateChanged(.terminated(.globalBan)))
    }

    @Test func aLogInAgainIsARecovery() async throws {
        let world = try await World()
        let login = try await world.addChain()
        try await world.kill(login)
        let request = try await world.users.beginLogIn(LogInRequest(into: .login(login.id)))
        let cursor = try await world.vault.eventHead()
        world.transport.enqueue(.generation("2"))
        _ = try await world.users.completeUnboundLogIn(.url("?code=CANARY-code&state=\(request.state)"))
        #expect(
            try await events(world.vault, after: cursor).map(\.kind)
                == [.updated, .recovered, .stateChanged(.established)])
    }

    /// A row that tells several events moves the cursor with the last of them: whoever dies in between hears all again.
    @Test func whatWasNotDealtWithComesAgain() async throws {
        let world = try await World()
        let login = try await world.addChain()
        try await world.kill(login)
        let all = try await events(world.vault)
        for (index, event) in all.enumerated() {
            let cursor = try #require(event.cursor)
            let text = "\(cursor)"
            let rest = try await events(world.vault, after: try #require(EventCursor(text)))
            #expect(rest.count >= all.count - index - 1)
            #expect(Array(all.suffix(rest.count)) == rest)
        }
        #expect(try await events(world.vault, after: try #require(all.last?.cursor)).isEmpty)
        // Another process goes on from the same place.
        let other = try await world.anotherProcess()
        #expect(try await events(other.vault).map(\.kind) == all.map(\.kind))
        await other.vault.close()
    }

    /// No row says that time has passed, also not one of a token that has little or nothing of it left.
    @Test func whatOnlyTimeCausesDoesNotCome() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let cursor = try await world.vault.eventHead()
        for seconds in [10.0, -10] {
            try await world.users.updateAccessToken(
                for: .login(login.id), accessToken: Sample.accessToken("\(seconds)"),
                expiresAt: world.vault.now.date.addingTimeInterval(seconds))
        }
        let found = try await events(world.vault, after: cursor).map(\.kind)
        #expect(found == [.updated, .updated, .stateChanged(.tokenExpired(nil))])
    }

    @Test func theSequenceGoesOnWithWhatComes() async throws {
        let world = try await World()
        let login = try await world.addChain()
        var iterator = world.users.events(after: .start).makeAsyncIterator()
        #expect(try await iterator.next()?.kind == .stateChanged(.established))
        let head = try await world.vault.eventHead()
        let next = Task {
            var iterator = world.users.events(after: head, of: .login(login.id)).makeAsyncIterator()
            return try await iterator.next()?.kind
        }
        try await world.withTimePassing {
            // Until it waits.
            for _ in 0..<100 { await Task.yield() }
            try await world.set(login, "2")
            try await world.set(login, "3")
            _ = try await next.value
        }
        #expect(try await next.value == .updated)
        await world.vault.close()
        while try await iterator.next() != nil {}
    }

    @Test func onlyOneLoginOrUserIfToldSo() async throws {
        let world = try await World()
        let login = try await world.addChain(name: "1")
        try await world.addChain(user: "bob", name: "2")
        let own = try await world.vault.storedEvents(after: .start, of: .login(login.id))
        #expect(own.events.map(\.login) == [login.id])
        #expect(try await world.vault.storedEvents(after: .start, of: .user("bob")).events.count == 1)
        #expect(try await world.vault.storedEvents(after: .start, of: .user("nobody")).events.isEmpty)
        // What concerns others is passed over.
        #expect(try await world.vault.storedEvents(after: own.cursor).events.isEmpty)
    }

    @Test func aPrunedTrailSaysThatEventsAreMissing() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let early = try await world.vault.eventHead()
        for number in 0..<1_200 { try await world.set(login, "\(number)") }
        world.time.advance(by: .seconds(200 * 86_400))
        try await world.vault.pruneAudit()
        let found = try await world.vault.storedEvents(after: early, limit: 10)
        guard case .missed(let count)? = found.events.first?.kind else {
            Issue.record("\(found.events.map(\.kind))")
            return
        }
        #expect(count > 100)
        // It is said once.
        let next = try await world.vault.storedEvents(after: found.cursor, limit: 10)
        #expect(!next.events.contains { if case .missed = $0.kind { true } else { false } })
        #expect(try await events(world.vault).allSatisfy { if case .missed = $0.kind { false } else { true } })
    }

    @Test func aCursorOfAnotherTrailIsNoticed() async throws {
        let world = try await World()
        try await world.addChain()
        let head = try await world.vault.eventHead()
        for text in ["\(head.sequence)-0000000000000000", "\(head.sequence + 50)-0123456789abcdef"] {
            let page = try await world.vault.storedEvents(after: try #require(EventCursor(text)))
            #expect(page.events.first?.kind == .missed(count: 1))
            #expect(try await !world.vault.has(#require(EventCursor(text))))
            #expect(try await world.vault.storedEvents(after: page.cursor).events.isEmpty)
        }
    }

    @Test(arguments: ["", "-", "x", "1-", "1-xyz", "-1", "1-0123456789ABCDEF", "99999999999999999999", "1-0-0", "1 "])
    func aTextThatIsNoCursorIsNone(text: String) {
        #expect(EventCursor(text) == nil)
    }

    @Test func cursorsAreWrittenAsTheyAreRead() throws {
        for text in ["0", "12", "7-0123456789abcdef"] { #expect(EventCursor(text)?.description == text) }
        #expect(EventCursor("0") == .start)
    }

    // MARK: Who will be lost

    @Test func loginsThatWillBeLostAreListedWithTheCause() async throws {
        let world = try await World(
            provider: World.provider(
                refresh: #"{"rotation":"always","idleSeconds":2592000,"absoluteSeconds":7776000}"#))
        let login = try await world.addChain(name: "1")
        let start = world.now
        #expect(try await world.vault.endings(within: .seconds(29 * 86_400)).isEmpty)
        var found = try await world.vault.endings(within: .seconds(31 * 86_400))
        #expect(found.map(\.cause) == [.disuse])
        #expect(found.first?.login.id == login.id)
        #expect(found.first?.date == start.addingTimeInterval(2_592_000))
        // It is used: then its grant ends, whatever is done.
        world.time.advance(by: .seconds(80 * 86_400))
        world.transport.enqueue(.generation("2"))
        _ = try await world.users.accessToken(userId: "alice")
        found = try await world.vault.endings(within: .seconds(31 * 86_400))
        #expect(found.map(\.cause) == [.grantExpires])
        #expect(found.first?.date == start.addingTimeInterval(7_776_000))
        // Logged in again, it is a new grant.
        let request = try await world.users.beginLogIn(LogInRequest(into: .login(login.id)))
        world.transport.enqueue(.generation("3"), .status(.ok))
        _ = try await world.users.completeUnboundLogIn(.url("?code=CANARY-code&state=\(request.state)"))
        try await world.settleRevocations()
        #expect(try await world.vault.endings(within: .seconds(29 * 86_400)).isEmpty)
        try await world.kill(login)
        #expect(try await world.vault.endings(within: .seconds(365 * 86_400)).isEmpty)
    }
}
