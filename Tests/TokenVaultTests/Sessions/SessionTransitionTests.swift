import FoundationEssentials
import Testing

@testable import TokenVault

/// The whole transition function: every state against every change.
struct SessionChangeTableTests {
    static let earlier = RefreshFailure(reason: .lostResponse, date: Date(timeIntervalSince1970: 1))
    static let failure = RefreshFailure(reason: .deadGrant, date: Date(timeIntervalSince1970: 2))

    static let changes: [SessionChange] = [
        .tokenStored, .staleTokenStored, .tokenRanOut, .died(failure), .ended(.userDisabled), .removed,
    ]

    private static let expired = SessionState.tokenExpired(nil)
    private static let dead = SessionState.tokenExpired(failure)
    private static let ended = SessionState.terminated(.userDisabled)
    private static let banned = SessionState.terminated(.globalBan)

    /// In the order of ``changes``.
    static let table: [(SessionState, [SessionState])] = [
        (.notLoggedIn, [.established, expired, .notLoggedIn, .notLoggedIn, .notLoggedIn, .notLoggedIn]),
        (.establishing, [.established, expired, .establishing, .establishing, .establishing, .notLoggedIn]),
        (.established, [.established, expired, expired, dead, ended, .notLoggedIn]),
        (expired, [.established, expired, expired, dead, ended, .notLoggedIn]),
        (.tokenExpired(earlier), [.established, expired, .tokenExpired(earlier), dead, ended, .notLoggedIn]),
        (banned, [banned, banned, banned, banned, banned, .notLoggedIn]),
    ]

    @Test func everyStateAgainstEveryChange() {
        var pairs = 0
        for (state, nexts) in Self.table {
            #expect(nexts.count == Self.changes.count)
            for (change, next) in zip(Self.changes, nexts) {
                #expect(state.after(change) == next, "\(state) after \(change)")
                pairs += 1
            }
        }
        print("session states: \(pairs) transitions")
        #expect(pairs == 36)
    }

    /// The best login counts, whatever the order.
    @Test func aUserIsWhatHisBestLoginIs() {
        let ranking: [SessionState] = [
            .notLoggedIn, Self.ended, .tokenExpired(Self.earlier), Self.dead, Self.expired, .establishing, .established,
        ]
        for (index, best) in ranking.enumerated() {
            let worse = Array(ranking[...index])
            #expect(SessionState.of(userWith: worse, isLoggingIn: false) == best)
            #expect(SessionState.of(userWith: worse.reversed(), isLoggingIn: false) == best)
        }
        #expect(SessionState.of(userWith: [], isLoggingIn: false) == .notLoggedIn)
        #expect(SessionState.of(userWith: [], isLoggingIn: true) == .establishing)
        #expect(SessionState.of(userWith: [Self.dead], isLoggingIn: true) == .establishing)
        #expect(SessionState.of(userWith: [.established], isLoggingIn: true) == .established)
    }
}
