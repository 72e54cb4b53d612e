import EngineSupport
import FoundationEssentials
import Synchronization
import TestSupport
import Testing
import TokenVaultTesting
import VaultStorage

@testable import TokenVault

/// What an event costs is what it reports: neither other logins nor other subscribers count, and no login is read for it.
@Suite(.tags(.everyEngine))
struct FeedCostTests {
    private static let start = Timestamp(milliseconds: 1_800_000_000_000)

    /// So many logins with five-minute tokens, of which one expires each so often.
    private static func logins(_ count: Int) -> (logins: WatchedLogins, handles: [LoginHandle]) {
        var logins = WatchedLogins(options: .init())
        let handles = (0..<count).map { _ in LoginHandle.random() }
        for (index, handle) in handles.enumerated() {
            let end = start.advanced(by: .seconds(300) + .milliseconds(300_000 * index / count))
            let look = LoginSnapshot(
                state: .established, generation: 1, token: .init(generation: 1, expiresAt: end))
            logins.watch(WatchedLogin(login: handle, user: .random(), userId: "u", look, nil, asOf: 0))
        }
        return (logins, handles)
    }

    private static func renewal(
        of login: LoginHandle, _ sequence: Int64, generation: Int64 = 2, at now: Timestamp
    ) -> SessionRow {
        let token = LoginSnapshot.Token(generation: generation, expiresAt: now.advanced(by: .seconds(300)))
        return SessionRow(
            sequence: sequence, time: now, user: .random(), login: login,
            look: LoginSnapshot(state: .established, generation: generation, token: token),
            state: .established,
            isNewState: false, isFirst: false, isLast: false, isNewToken: true, news: [.updated],
            answer: nil)
    }

    @Test(arguments: [1_000, 10_000, 50_000])
    func whatIsDueIsFoundWithoutLookingAtTheRest(count: Int) {
        var (logins, _) = Self.logins(count)
        var events = 0
        let before = logins.work
        for second in 0..<180 {
            events += logins.reportDue(Self.start.advanced(by: .seconds(second))).count
        }
        let expected = (0..<count).count { 300_000 * $0 / count <= 59_000 }
        #expect(events == expected)
        #expect(logins.work - before == expected)
    }

    @Test(arguments: [1_000, 10_000, 50_000])
    func aRowLooksAtItsLoginAlone(count: Int) {
        var (logins, handles) = Self.logins(count)
        let horizon = Self.start.advanced(by: .seconds(600))
        for (index, handle) in handles.prefix(500).enumerated() {
            let before = logins.work
            let row = Self.renewal(of: handle, Int64(index + 1), at: Self.start)
            let events = logins.take(row, userId: "u", nil, horizon: horizon)
            #expect(events.map(\.event.kind) == [.updated])
            #expect(logins.work - before == 1)
        }
        // The old due times are void: they cost one entry of the heap each, and report nothing.
        let before = logins.work
        let due = logins.reportDue(Self.start.advanced(by: .seconds(119))).count
        #expect(due == 0)
        #expect(logins.work == before)
    }

    /// What is replaced all the time while no time passes does not pile up.
    @Test func renewalsLeaveNoMoreDueTimesThanTheyReplace() {
        var (logins, handles) = Self.logins(100)
        for handle in handles { logins.name(handle) }
        for round in 0..<50 {
            let time = Self.start.advanced(by: .milliseconds(round))
            for handle in handles {
                let row = Self.renewal(of: handle, Int64(round + 1), generation: Int64(round + 2), at: time)
                #expect(logins.take(row, userId: "u", nil, horizon: nil).count == 1)
            }
        }
        #expect(logins.dueEntries <= 2 * 100 + 65)
    }

    /// Ten thousand subscribers of other logins and users are not asked.
    @Test func subscribersAreFoundByWhatTheyWatch() {
        var subscribers = FeedSubscribers()
        let (login, user) = (LoginHandle.random(), UserHandle.random())
        var buffers: [EventBuffer<SessionEvent>] = []
        func add(_ scope: FeedScope, _ user: UserHandle?) {
            let buffer = EventBuffer<SessionEvent>(limit: 8, overflow: .dropOldest)
            _ = subscribers.add(FeedSubscriber(scope: scope, sink: .events(buffer), user: user, from: 0))
            buffers.append(buffer)
        }
        add(.all, nil)
        add(.login(login), nil)
        add(.user("alice"), user)
        for index in 0..<5_000 {
            add(.login(.random()), nil)
            add(.user("user-\(index)"), .random())
        }
        let event = SessionEvent(
            .updated, login: LoginID(login), userId: "alice", generation: 2, date: Self.start.date)
        subscribers.deliver(
            FeedEvent(event: event, login: login, user: user, userId: "alice", sequence: 1))
        #expect(subscribers.work == 3)
        let counts = buffers.map { $0.takeAll().count }
        #expect(counts.prefix(3) == [1, 1, 1])
        #expect(counts.reduce(0, +) == 3)
    }

    /// The trail is all that is read: in batches, whatever the rows are about.
    @Test func noLoginIsReadForARow() async throws {
        let world = try await World()
        let process = try await world.faulty()
        let (first, second) = try await (
            world.addChain(name: "a"), world.addChain(user: "bob", name: "b")
        )
        let watchers = [await Watcher(process.vault, first), await Watcher(process.vault, .user("bob"))]
        for round in 0..<30 {
            try await world.set(first, "\(round)")
            try await world.set(second, "\(round)")
        }
        try await world.kill(first)
        try await world.users.logOut(.login(second.id), revokes: false)
        let reads = Atomic<Int>(0)
        process.store.beforeReading { reads.add(1, ordering: .relaxed) }
        await process.vault.sessions.catchUp()
        process.store.beforeReading(nil)
        // 60 tokens, the beginning and the end of a renewal, a removal: one batch is not quite enough, or just.
        #expect(reads.load(ordering: .relaxed) <= 2)
        var counts: [Int] = []
        for watcher in watchers { counts.append(await watcher.events().count) }
        #expect(counts == [32, 31])
    }

    /// More users than are remembered: each event names its own.
    @Test func eachEventNamesItsUserHoweverManyThereAre() async throws {
        let world = try await World()
        var options = SessionEventOptions()
        options.mostNames = 3
        let vault = Vault(
            path: world.vault.path, store: world.vault.store, timeSource: world.time,
            logger: world.logs.logger,
            sessionEvents: options)
        var logins: [Login] = []
        for index in 0..<8 {
            logins.append(try await world.addChain(user: "user-\(index)", name: "\(index)"))
        }
        let watcher = await Watcher(vault)
        for login in logins {
            for round in 0..<2 { try await world.set(login, "r\(round)") }
        }
        let expected = (0..<16).map { "user-\($0 / 2)" }
        await #expect(watcher.events().map(\.userId) == expected)
    }
}
