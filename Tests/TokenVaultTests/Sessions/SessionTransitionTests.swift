import FoundationEssentials
import Testing
import TokenVaultTesting

@testable import TokenVault

/// What each change makes of each state, in a real vault: what is read afterwards, and what subscribers hear.
struct SessionTransitionTests {
    /// A state without its reason.
    enum Kind: String, CaseIterable {
        case notLoggedIn, established, tokenExpired, refreshFailed, terminated

        init(_ state: SessionState) {
            self =
                switch state {
                case .notLoggedIn, .establishing: .notLoggedIn
                case .established: .established
                case .tokenExpired(nil): .tokenExpired
                case .tokenExpired(_?): .refreshFailed
                case .terminated: .terminated
                }
        }
    }

    enum Change: String, CaseIterable {
        case tokenStored = "token stored"
        case expiredTokenStored = "expired token stored"
        case tokenExpired = "token expired"
        case refreshFailed = "refresh failed"
        case ended, removed = "logged out"
    }

    /// In the order of ``Change``. `docs/session-states.md` is drawn from it.
    static let table: [(state: Kind, next: [Kind])] = [
        (.notLoggedIn, [.established, .tokenExpired, .notLoggedIn, .notLoggedIn, .notLoggedIn, .notLoggedIn]),
        (.established, [.established, .tokenExpired, .tokenExpired, .refreshFailed, .terminated, .notLoggedIn]),
        (.tokenExpired, [.established, .tokenExpired, .tokenExpired, .refreshFailed, .terminated, .notLoggedIn]),
        (.refreshFailed, [.established, .tokenExpired, .refreshFailed, .refreshFailed, .terminated, .notLoggedIn]),
        (.terminated, [.terminated, .terminated, .terminated, .terminated, .terminated, .notLoggedIn]),
    ]

    @Test(arguments: Kind.allCases)
    func everyStateAgainstEveryChange(kind: Kind) async throws {
        let nexts = try #require(Self.table.first { $0.state == kind }?.next)
        #expect(nexts.count == Change.allCases.count)
        for (change, next) in zip(Change.allCases, nexts) {
            let world = try await World()
            let login = try await world.addChain()
            try await Self.bring(login, to: kind, in: world)
            let (user, one) = (await StateWatcher(world.vault, .user("alice")), await StateWatcher(world.vault, login))
            let before = try await world.users.sessionState(of: .user("alice"))
            #expect(Kind(before) == kind)
            try? await Self.make(change, of: login, kind, in: world)
            let after = try await world.users.sessionState(of: .user("alice"))
            #expect(Kind(after) == next, "\(kind) after \(change)")
            let heard = await user.states()
            #expect(heard.first == before)
            #expect(heard.last == after)
            #expect(heard.count == (before == after ? 1 : 2), "\(kind) after \(change): \(heard)")
            // Of a login that is gone there is no more to come: a new log-in is a new login.
            await #expect(one.states() == (kind == .notLoggedIn ? [.notLoggedIn] : heard))
        }
    }

    private static func bring(_ login: Login, to kind: Kind, in world: World) async throws {
        switch kind {
        case .notLoggedIn: try await world.users.logOut(.login(login.id), revokes: false)
        case .established: break
        case .tokenExpired: world.expire()
        case .refreshFailed: try await world.kill(login)
        case .terminated: try await world.users.disableUser("alice")
        }
    }

    private static func make(_ change: Change, of login: Login, _ kind: Kind, in world: World) async throws {
        switch change {
        case .tokenStored, .expiredTokenStored:
            let lifetime = Duration.seconds(change == .tokenStored ? 3_600 : -1)
            if kind == .notLoggedIn {
                try await world.addChain(name: "new", lifetime: lifetime)
            } else {
                try await world.set(login, lifetime: lifetime)
            }
        case .tokenExpired: world.expire()
        case .refreshFailed: try await world.kill(login)
        case .ended: try await world.users.disableUser("alice")
        case .removed: try await world.users.logOut(.login(login.id), revokes: false)
        }
    }

    /// The best login counts, whatever the order.
    @Test func aUserIsWhatTheirBestLoginIs() {
        let earlier = RefreshFailure(reason: .lostResponse, date: Date(timeIntervalSince1970: 1))
        let failure = RefreshFailure(reason: .deadGrant, date: Date(timeIntervalSince1970: 2))
        let ranking: [SessionState] = [
            .notLoggedIn, .terminated(.userDisabled), .tokenExpired(earlier), .tokenExpired(failure),
            .tokenExpired(nil), .establishing, .established,
        ]
        for (index, best) in ranking.enumerated() {
            let worse = Array(ranking[...index])
            #expect(SessionState.of(userWith: worse, isLoggingIn: false) == best)
            #expect(SessionState.of(userWith: worse.reversed(), isLoggingIn: false) == best)
        }
        #expect(SessionState.of(userWith: [], isLoggingIn: false) == .notLoggedIn)
        #expect(SessionState.of(userWith: [], isLoggingIn: true) == .establishing)
        #expect(SessionState.of(userWith: [.tokenExpired(failure)], isLoggingIn: true) == .establishing)
        #expect(SessionState.of(userWith: [.established], isLoggingIn: true) == .established)
    }
}
