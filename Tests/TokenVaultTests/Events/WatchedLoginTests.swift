import EngineSupport
import FoundationEssentials
import Testing
import VaultStorage

@testable import TokenVault

/// What one login's rows and due times come to. Pure.
@Suite(.tags(.everyEngine))
struct WatchedLoginTests {
    private static let options = SessionEventOptions()
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)
    private static let login = LoginHandle.random()
    private static let failure = FailureRecord(reason: RefreshFailure.Reason.deadGrant.code, at: now)

    private static func look(
        _ state: SessionSummary?, generation: Int64 = 2, endsIn: Duration? = .seconds(3_600)
    ) -> LoginSnapshot {
        LoginSnapshot(
            state: state, generation: generation,
            token: endsIn.map { .init(generation: generation, expiresAt: now.advanced(by: $0)) })
    }

    private static func row(
        _ look: LoginSnapshot, _ sequence: Int64 = 5, isNewState: Bool = false, isNewToken: Bool = false,
        news: [SessionEvent.Kind] = []
    ) -> SessionRow {
        SessionRow(
            sequence: sequence, time: now, user: .random(), login: login, look: look,
            state: look.state.map { SessionState($0) } ?? .notLoggedIn, isNewState: isNewState,
            isFirst: false,
            isLast: look.state == nil, isNewToken: isNewToken, news: news, answer: nil)
    }

    private static func read(_ look: LoginSnapshot, asOf: Int64 = 0) -> WatchedLogin {
        WatchedLogin(login: login, user: .random(), userId: "alice", look, nil, asOf: asOf)
    }

    /// Nothing was known of the login: the row says all.
    private static func unknown(_ row: SessionRow) -> [SessionEvent.Kind] {
        var login = WatchedLogin(before: row, userId: "alice", nil)
        return login.take(row, nil, options).map(\.kind)
    }

    @Test func aRowFromBeforeTheReadingIsHistory() {
        var login = Self.read(Self.look(.established, generation: 3), asOf: 9)
        let old = Self.row(
            Self.look(.tokenExpired, endsIn: .seconds(-1)), isNewState: true, news: [.updated])
        #expect(
            login.take(old, nil, Self.options).map(\.kind) == [
                .updated, .stateChanged(.tokenExpired(nil)),
            ])
        #expect(login.state == .established)
        #expect(login.generation == 3)
        #expect(login.token?.generation == 3)
        #expect(login.reportDue(Self.now, Self.options).isEmpty)
    }

    @Test func aStateIsReportedOnce() {
        var login = Self.read(Self.look(.established))
        let dead = Self.row(Self.look(.refreshFailed(Self.failure)), isNewState: true)
        let state = SessionState.tokenExpired(RefreshFailure(Self.failure))
        #expect(login.take(dead, nil, Self.options).map(\.kind) == [.stateChanged(state)])
        let again = Self.row(Self.look(.refreshFailed(Self.failure)), 6, isNewState: true)
        #expect(login.take(again, nil, Self.options).isEmpty)
    }

    @Test func anExpiredTokenComesBeforeItsState() {
        let look = Self.look(.tokenExpired, endsIn: .seconds(-5))
        let end = Self.now.advanced(by: .seconds(-5)).date
        let expected: [SessionEvent.Kind] = [
            .updated, .willExpire(at: end), .expired, .stateChanged(.tokenExpired(nil)),
        ]
        let row = Self.row(look, isNewState: true, isNewToken: true, news: [.updated])
        #expect(Self.unknown(row) == expected)
        var login = Self.read(Self.look(.established, generation: 1))
        #expect(login.take(row, nil, Self.options).map(\.kind) == expected)
    }

    /// Whether a token's end was reported before a row about something else, others know.
    @Test func theEndOfATokenBeforeAnUnknownRowIsNotReported() {
        let state = SessionState.tokenExpired(RefreshFailure(Self.failure))
        let news = SessionEvent.Kind.refreshFailed(RefreshFailure(Self.failure))
        let look = Self.look(.refreshFailed(Self.failure), endsIn: .seconds(-5))
        #expect(
            Self.unknown(Self.row(look, isNewState: true, news: [news])) == [news, .stateChanged(state)])
        #expect(Self.unknown(Self.row(Self.look(.tokenExpired, endsIn: .seconds(-5)))) == [])
    }

    /// An expiry that has been learnt, and is past: it is this row that ends the token.
    @Test func anExpiryThatARowBringsIsReported() {
        let look = Self.look(.tokenExpired, endsIn: .seconds(-5))
        #expect(
            Self.unknown(Self.row(look, isNewState: true)) == [
                .willExpire(at: Self.now.advanced(by: .seconds(-5)).date), .expired,
                .stateChanged(.tokenExpired(nil)),
            ])
    }

    @Test func extendedTokenOfTheSameGenerationExpiresOnce() {
        var login = Self.read(Self.look(.tokenExpired, endsIn: .seconds(-5)))
        #expect(login.reportDue(Self.now, Self.options).count == 2)
        let longer = Self.row(Self.look(.established, endsIn: .seconds(60)), isNewState: true)
        #expect(login.take(longer, nil, Self.options).map(\.kind) == [.stateChanged(.established)])
        let later = Self.now.advanced(by: .seconds(60))
        #expect(
            login.reportDue(later, Self.options).map(\.kind) == [
                .expired, .stateChanged(.tokenExpired(nil)),
            ])
    }

    @Test func theFirstEndOfRefreshTokenAndGrantCounts() {
        let day = Duration.seconds(86_400)
        var look = Self.look(.established)
        #expect(RefreshEnd(look, .limited(day), obtainedAt: Self.now, Self.options) == nil)
        look.refreshExpiresAt = Self.now.advanced(by: day * 8)
        let own = RefreshEnd(look, .unlimited, obtainedAt: Self.now, Self.options)
        #expect(own?.endsAt == look.refreshExpiresAt)
        // A quarter of its life, which is less than two weeks.
        #expect(own?.warnsAt == Self.now.advanced(by: day * 6))
        look.grant = .init(since: Self.now.advanced(by: day * -96), provider: .random())
        #expect(RefreshEnd(look, .limited(day * 200), obtainedAt: Self.now, Self.options) == own)
        let grant = RefreshEnd(look, .limited(day * 100), obtainedAt: Self.now, Self.options)
        #expect(grant?.endsAt == Self.now.advanced(by: day * 4))
        // Two weeks before, counted in the life of the grant and not in what the last token has left of it.
        #expect(grant?.warnsAt == Self.now.advanced(by: day * -10))
    }
}
