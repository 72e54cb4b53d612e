import EngineSupport
import FoundationEssentials
import OAuthClient
import Synchronization
import TestSupport
import Testing
import TokenVaultTesting
import VaultStorage

@testable import TokenVault

/// The feed: changes of other processes, holes in the trail, subscribers of every kind, and its end.
@Suite(.tags(.everyEngine))
struct FeedTests {
    @Test func aChangeOfAnotherProcessIsToldOnceInEach() async throws {
        let world = try await World()
        let (otherVault, other) = try await world.anotherProcess()
        let login = try await world.addChain()
        let watchers = [await Watcher(world.vault, login), await Watcher(otherVault, login)]
        world.transport.enqueue(.generation("2"), .generation("3"))
        _ = try await other.accessToken(for: .login(login.id), .renewed)
        _ = try await world.users.accessToken(for: .login(login.id), .renewed)
        for watcher in watchers {
            await #expect(watcher.names() == ["updated 2", "updated 3"])
            await #expect(watcher.names() == [])
        }
    }

    @Test func theTaskFindsAChangeOfAnotherProcessWithinASecond() async throws {
        let world = try await World()
        let (_, other) = try await world.anotherProcess()
        let login = try await world.addChain()
        let events = world.users.events(userId: "alice")
        let first = Task {
            for await event in events { return event as SessionEvent? }
            return nil
        }
        await world.subscriptionsHaveBegun()
        _ = try await other.updateAccessToken(
            for: .login(login.id), accessToken: Sample.accessToken("2"), expiresAt: world.now.addingTimeInterval(3_600))
        let event = await world.withTimePassing { await first.value }
        #expect(event?.kind == .updated)
        #expect(event?.generation == 2)
    }

    @Test func aChangeOfThisProcessIsToldWithoutWaiting() async throws {
        let world = try await World()
        let login = try await world.addChain()
        var iterator = world.users.events(of: .login(login.id)).makeAsyncIterator()
        try await world.set(login)
        // The clock stands still: only the commit can have woken the feed.
        #expect(await iterator.next(isolation: nil)?.kind == .updated)
    }

    /// Reading takes as long as the disk does; who subscribes or posts meanwhile does not wait for it.
    @Test func nobodyWaitsWhileTheFeedReads() async throws {
        let world = try await World()
        let process = try await world.faulty()
        let login = try await world.addChain()
        let watcher = await Watcher(process.vault, login)
        let tries = Atomic<Int>(0)
        process.store.beforeReading {
            // On the thread that reads: a lock that is held here is held by it.
            if process.vault.sessions.state.withLockIfAvailable({ _ in true }) == true {
                tries.add(1, ordering: .relaxed)
            } else {
                Issue.record("the feed holds its lock over a read")
            }
        }
        try await world.set(login, "2")
        try await world.set(login, "3")
        await #expect(watcher.names() == ["updated 2", "updated 3"])
        let count = tries.load(ordering: .relaxed)
        #expect(count >= 1, "\(count) reads")
        process.store.beforeReading(nil)
    }

    @Test func twoManagersOfOneProcessEachTellOnce() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let second = try await UserManager(vault: world.vault, transport: world.transport, options: World.options)
        var iterators = [world.users, second].map { $0.events(of: .login(login.id)).makeAsyncIterator() }
        try await world.set(login, "2")
        try await world.set(login, "3")
        for index in iterators.indices {
            #expect(await iterators[index].next(isolation: nil)?.generation == 2)
            #expect(await iterators[index].next(isolation: nil)?.generation == 3)
        }
    }

    /// Wherever the vault lies: over a network a subscription begins later, and the changes wait for it.
    @Test func whoSubscribesHearsOfWhatItDoesNext() async throws {
        let world = try await World()
        let login = try await world.addChain()
        for round in 0..<50 {
            var (events, all) = (
                world.users.events(of: .login(login.id)).makeAsyncIterator(),
                world.users.events().makeAsyncIterator()
            )
            var states = world.users.sessionStates(of: .user("alice")).makeAsyncIterator()
            try await world.set(login, "\(round)", lifetime: .seconds(-1))
            try await world.set(login, "\(round) again")
            let (expired, good) = (2 * round + 2, 2 * round + 3)
            await #expect(events.next(isolation: nil)?.generation == expired)
            await #expect(all.next(isolation: nil)?.generation == expired)
            await #expect(states.next(isolation: nil) == .established)
            await #expect(states.next(isolation: nil) == .tokenExpired(nil))
            await #expect(states.next(isolation: nil) == .established)
            await #expect(try world.stored(login).position.generation == Int64(good))
        }
    }

    /// What is read when a subscription begins is no single moment: the change comes before each of its reads in turn, and
    /// the feed, which runs for others, reports it before the subscriber is there.
    @Test(arguments: [true, false])
    func aChangeWhileASubscriptionBeginsIsNotLost(theUserIsNew: Bool) async throws {
        var places = 0
        for place in 1... {
            let world = try await World()
            let process = try await world.anotherFaulty()
            let login = theUserIsNew ? nil : try await world.addChain(user: "bob")
            let other = await Watcher(process.vault)
            let reads = Atomic<Int>(0)
            process.store.beforeReading {
                guard reads.add(1, ordering: .relaxed).newValue == place else { return }
                process.store.beforeReading(nil)
                await #expect(throws: Never.self) {
                    if let login {
                        try await world.set(login, lifetime: .seconds(-1))
                    } else {
                        _ = try await world.addChain(user: "bob")
                    }
                }
                await process.vault.sessions.catchUp()
            }
            let states = await StateWatcher(process.vault, login.map { .login($0.id.handle) } ?? .user("bob"))
            process.store.beforeReading(nil)
            guard reads.load(ordering: .relaxed) >= place else { break }
            places += 1
            await #expect(states.states().last == (theUserIsNew ? .established : .tokenExpired(nil)), "read \(place)")
            await #expect(!other.events().isEmpty)
        }
        #expect(places >= 2)
    }

    /// A second subscriber comes after a new user's first row, and before the feed has reported it.
    @Test func aNewUserIsToldToWhomeverHasWaited() async throws {
        let world = try await World()
        let waiting = await StateWatcher(world.vault, .user("bob"))
        await #expect(waiting.states() == [.notLoggedIn])
        _ = try await world.addChain(user: "bob")
        let second = await StateWatcher(world.vault, .user("bob"))
        await #expect(second.states() == [.established])
        await #expect(waiting.states() == [.established])
    }

    @Test func whatHappenedBeforeIsNotTold() async throws {
        let world = try await World()
        let login = try await world.addChain()
        try await world.set(login)
        await #expect(Watcher(world.vault, login).names() == [])
        await #expect(Watcher(world.vault).names() == [])
    }

    /// A process that ends without a word has told what it has committed; the next one goes on from there.
    @Test func whoStartsAgainGoesOnWithWhatIsCommittedThen() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let survivor = await Watcher(world.vault, login)
        var killed: (vault: Vault, users: UserManager)? = try await world.anotherProcess()
        let before = await Watcher(try #require(killed?.vault), login)
        _ = try await killed?.users.updateAccessToken(
            for: .login(login.id), accessToken: Sample.accessToken("2"), expiresAt: world.now.addingTimeInterval(3_600))
        await #expect(before.names() == ["updated 2"])
        killed = nil
        let (vault, users) = try await world.anotherProcess()
        let after = await Watcher(vault, login)
        _ = try await users.updateAccessToken(
            for: .login(login.id), accessToken: Sample.accessToken("3"), expiresAt: world.now.addingTimeInterval(3_600))
        await #expect(after.names() == ["updated 3"])
        await #expect(survivor.names() == ["updated 2", "updated 3"])
    }

    @Test func rowsThatWerePrunedAreToldAsMissed() async throws {
        let world = try await World()
        let (_, other) = try await world.anotherProcess()
        let login = try await world.addChain()
        let watcher = await Watcher(world.vault, login)
        let head = try await world.vault.store.auditHead()
        for round in 2...5 {
            _ = try await other.updateAccessToken(
                for: .login(login.id), accessToken: Sample.accessToken("\(round)"),
                expiresAt: world.now.addingTimeInterval(Double(round) * 1_000))
        }
        try world.temporary.intruder()
            .execute("DELETE FROM audit WHERE sequence > \(head) AND sequence < \(head + 4)")
        await #expect(watcher.names() == ["missed(3)", "updated 5"])
        // What is armed is the token that is there now.
        world.pass(.seconds(5_000 - 180))
        await #expect(watcher.names() == ["willExpire 5"])
    }

    /// That the store cannot be asked at the moment says nothing of a login.
    @Test func aLoginThatCannotBeReadAtTheMomentIsNotGone() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let process = try await world.faulty()
        let (watcher, states) = (await Watcher(process.vault, login), await StateWatcher(process.vault, login))
        let head = try await world.vault.store.auditHead()
        try await world.set(login, "2")
        try await world.set(login, "3")
        try world.temporary.intruder().execute("DELETE FROM audit WHERE sequence = \(head + 1)")
        let reads = Mutex(0)
        // The rows can be read, the login can not.
        process.store.beforeReading { () throws(StoreError) in
            let count = reads.withLock { reads in
                reads += 1
                return reads
            }
            if count.isMultiple(of: 2) { throw StoreError(.busy, "the server cannot be reached") }
        }
        for _ in 0..<3 { await #expect(watcher.names() == []) }
        #expect(reads.withLock { $0 } >= 6)
        process.store.beforeReading(nil)
        await #expect(watcher.names() == ["missed(1)", "updated 3"])
        await #expect(states.states() == [.established])
    }

    @Test("a row that does not open is reported as missed, and the reported state is still right")
    func unreadableRowIsReportedAsMissed() async throws {
        let world = try await World()
        let (_, other) = try await world.anotherProcess()
        let login = try await world.addChain()
        let (watcher, states) = (await Watcher(world.vault, login), await StateWatcher(world.vault, login))
        world.transport.enqueue(.error("invalid_grant"))
        _ = try? await other.accessToken(for: .login(login.id), .renewed)
        try world.temporary.intruder()
            .blank("audit", "detailCell", where: "kind = \(AuditKind.loginDead.rawValue)")
        let failure = try #require(try await world.vault.login(login.id).failure)
        await #expect(watcher.events().map(\.kind) == [.missed(count: 1), .stateChanged(.tokenExpired(failure))])
        await #expect(states.states() == [.established, .tokenExpired(failure)])
    }

    /// Its row holds no look: that it is the last one says enough.
    @Test func theEndOfALoginThatDoesNotOpenIsReported() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let watchers = [
            await Watcher(world.vault, login), await Watcher(world.vault, .user("alice")), await Watcher(world.vault),
        ]
        try world.temporary.intruder().blank("login", "cell")
        try await world.users.eraseUser("alice")
        for watcher in watchers {
            await #expect(watcher.events().map(\.kind) == [.stateChanged(.terminated(.userDeleted))])
        }
    }

    @Test func aSlowSubscriberIsToldHowMuchHeMissed() async throws {
        let world = try await World()
        let vault = Vault(
            path: world.vault.path, store: world.vault.store, timeSource: world.time, logger: world.logs.logger,
            sessionEvents: SessionEventOptions(bufferLimit: 8))
        let login = try await world.addChain()
        let (stuck, brisk) = (await Watcher(vault, login), await Watcher(vault, login))
        var seen = 0
        for round in 0..<50 {
            try await world.set(login, "\(round)")
            await seen += brisk.names().count
        }
        #expect(seen == 50)
        await #expect(stuck.names() == (2...9).map { "updated \($0)" } + ["missed(42)"])
        try await world.set(login, "last")
        await #expect(stuck.names() == ["updated 52"])
    }

    @Test func aSubscriberWhoNeverFetchesStopsNobody() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let stuck = (0..<10).map { _ in world.users.events(of: .login(login.id)).makeAsyncIterator() }
        for round in 2...200 { try await world.set(login, "\(round)") }
        await #expect(Watcher(world.vault, login).names() == [])
        await #expect(try world.users.validAccessToken(for: .login(login.id))?.generation == 200)
        withExtendedLifetime(stuck) {}
    }

    @Test func cancellingTheTaskEndsTheSequence() async throws {
        let world = try await World()
        let users = world.users
        let task = Task {
            var count = 0
            for await _ in users.events() { count += 1 }
            return count
        }
        while world.vault.sessions.state.withLock({ $0.subscribers.isEmpty }), !Task.isCancelled { await Task.yield() }
        task.cancel()
        #expect(await task.value == 0)
        // Nobody is left, so nothing runs.
        while world.vault.sessions.isReading, !Task.isCancelled { await Task.yield() }
        #expect(await !world.vault.sessions.catchUp())
    }

    @Test func closingTheVaultEndsSequencesAfterWhatWasTold() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let events = world.users.events(of: .login(login.id))
        let states = world.users.sessionStates(of: .login(login.id))
        try await world.set(login)
        await world.vault.close()
        var kinds: [SessionEvent.Kind] = []
        for await event in events { kinds.append(event.kind) }
        #expect(kinds == [.updated])
        var seen: [SessionState] = []
        for await state in states { seen.append(state) }
        #expect(seen == [.established])
        // Of a closed vault there is nothing to come.
        for await _ in world.users.events() { Issue.record("an event of a closed vault") }
    }

    @Test func eachIteratorIsASubscriber() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let events = world.users.events(of: .login(login.id))
        var (first, second) = (events.makeAsyncIterator(), events.makeAsyncIterator())
        try await world.set(login)
        #expect(await first.next(isolation: nil)?.kind == .updated)
        #expect(await second.next(isolation: nil)?.kind == .updated)
    }

    @Test func withoutSubscribersNothingRuns() async throws {
        let world = try await World()
        let login = try await world.addChain()
        try await world.set(login)
        await world.vault.sessions.post(.unusableToken(login: login.id.handle, .conflict))
        #expect(world.vault.sessions.state.withLock { $0.signal == nil && $0.subscribers.last == 0 })
        #expect(!world.vault.sessions.isReading)
        #expect(world.time.sleeperCount == 0)
        #expect(world.vault.sessions.inbox.withLock { $0.notices.isEmpty })
    }

    /// The task of the subscriber before is still ending when the next one's begins.
    @Test func whoComesAsTheLastOneGoesIsToldAtOnce() async throws {
        let world = try await World()
        let login = try await world.addChain()
        for round in 0..<100 {
            var events = Optional(world.users.events(of: .login(login.id)).makeAsyncIterator())
            if round.isMultiple(of: 2) { await Task.yield() }
            #expect(events != nil)
            events = nil
            var next = world.users.events(of: .login(login.id)).makeAsyncIterator()
            try await world.set(login, "r\(round)")
            // The clock stands still: only the commit can wake the feed.
            #expect(await next.next(isolation: nil)?.kind == .updated)
        }
    }

    @Test func anEndlessUserIdIsNoReasonToWaitForEver() async throws {
        let world = try await World()
        await world.vault.close()
        for await _ in world.users.events(userId: "alice") { Issue.record("an event of a closed vault") }
        for await _ in world.users.sessionStates(of: .user("alice")) { Issue.record("a state of a closed vault") }
    }

    @Test func canariesAreInNoEvent() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let watcher = await Watcher(world.vault)
        world.transport.enqueue(.generation("2"))
        _ = try await world.users.accessToken(for: .login(login.id), .renewed)
        try await world.kill(login)
        let events = await watcher.events()
        #expect(events.count == 3)
        #expect(!String(reflecting: events).contains(Sample.marker))
        #expect(!world.logs.text.contains(Sample.marker))
    }

    @Test func theLastEventsOfTheTrailAreThere() async throws {
        let world = try await World()
        let login = try await world.addChain()
        try await world.addChain(user: "bob", name: "bob")
        for round in 2...300 { try await world.set(login, "\(round)") }
        let past = try await world.vault.pastEvents(login: nil, userId: "alice", limit: 1_000)
        #expect(past.map(\.kind) == [.stateChanged(.established)] + Array(repeating: .updated, count: 299))
        await #expect(
            try world.vault.pastEvents(login: login.id, userId: nil, limit: 3).compactMap(\.generation) == [
                298, 299, 300,
            ])
        await #expect(try world.vault.pastEvents(login: nil, userId: "bob", limit: 3).map(\.userId) == ["bob"])
    }
}
