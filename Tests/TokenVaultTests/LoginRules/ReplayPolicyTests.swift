import OAuthClient
import Testing
import VaultStorage

@testable import TokenVault

/// Whether a refresh token that may be spent is sent again: a table, and what must hold for everything beside it.
struct ReplayPolicyTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let policy: ReplayPolicy
        let elapsed: Duration
        let tries: Int
        var others = false
        let answer: ReplayPolicy.Answer

        var testDescription: String { name }
    }

    static let strict = ReplayPolicy()
    static let still = ReplayPolicy(rotates: false)
    static let forgiving = ReplayPolicy(grace: .seconds(1_800))
    static let short = ReplayPolicy(grace: .seconds(30))
    static let wide = ReplayPolicy(harmsOtherLogins: true)
    static let wideWithGrace = ReplayPolicy(grace: .seconds(1_800), harmsOtherLogins: true)
    static let mute = ReplayPolicy(isForbidden: true)
    static let day = Duration.seconds(86_400)

    static let table: [Row] = [
        Row(name: "no rotation, at first", policy: still, elapsed: .seconds(1), tries: 1, answer: .atOnce),
        Row(name: "no rotation, again", policy: still, elapsed: .seconds(9), tries: 2, answer: .later),
        Row(name: "no rotation, for ever", policy: still, elapsed: day * 9, tries: 90, others: true, answer: .later),
        Row(name: "grace, first", policy: forgiving, elapsed: .seconds(30), tries: 1, answer: .atOnce),
        Row(name: "grace, third", policy: forgiving, elapsed: .seconds(90), tries: 3, answer: .atOnce),
        Row(name: "grace, fourth", policy: forgiving, elapsed: .seconds(120), tries: 4, answer: .later),
        Row(name: "grace that is over", policy: forgiving, elapsed: .seconds(1_770), tries: 2, answer: .later),
        Row(name: "grace that is over, first", policy: forgiving, elapsed: .seconds(1_770), tries: 1, answer: .atOnce),
        Row(name: "grace too short for a request", policy: short, elapsed: .seconds(1), tries: 1, answer: .atOnce),
        Row(name: "grace too short, again", policy: short, elapsed: .seconds(1), tries: 2, answer: .later),
        Row(name: "no grace, the one replay", policy: strict, elapsed: .seconds(30), tries: 1, answer: .atOnce),
        Row(name: "no grace, again", policy: strict, elapsed: .seconds(30), tries: 2, answer: .later),
        Row(name: "no grace, others are safe", policy: strict, elapsed: .zero, tries: 1, others: true, answer: .atOnce),
        Row(name: "harm, nobody there", policy: wide, elapsed: .seconds(30), tries: 1, answer: .atOnce),
        Row(name: "harm to others", policy: wide, elapsed: .seconds(30), tries: 1, others: true, answer: .never),
        Row(
            name: "harm, inside the grace", policy: wideWithGrace, elapsed: .seconds(30), tries: 1, others: true,
            answer: .atOnce),
        Row(
            name: "harm, after the grace", policy: wideWithGrace, elapsed: .seconds(1_800), tries: 1, others: true,
            answer: .never),
        Row(name: "forbidden", policy: mute, elapsed: .zero, tries: 1, answer: .never),
        Row(name: "six replays within a day", policy: strict, elapsed: day - .seconds(1), tries: 7, answer: .later),
        Row(name: "a day with few replays", policy: strict, elapsed: day * 2, tries: 6, answer: .later),
        Row(name: "six replays and a day", policy: strict, elapsed: day, tries: 7, answer: .exhausted),
    ]

    @Test(arguments: table)
    func eachCaseHasItsAnswer(_ row: Row) {
        let situation = ReplayPolicy.Situation(elapsed: row.elapsed, tries: row.tries, hasOtherLogins: row.others)
        #expect(row.policy.answer(situation) == row.answer)
    }

    @Test func forEveryProviderAndSituation() {
        var count = 0
        let elapsed: [Duration] = [.zero, .seconds(29), .seconds(60), .seconds(3_600), Self.day, Self.day * 30]
        for rotates in [false, true] {
            for grace in [Duration.zero, .seconds(30), .seconds(61), .seconds(1_800)] {
                for harms in [false, true] {
                    for isForbidden in [false, true] {
                        for tries in 1...12 {
                            for elapsed in elapsed {
                                for others in [false, true] {
                                    let policy = ReplayPolicy(
                                        rotates: rotates, grace: grace, harmsOtherLogins: harms,
                                        isForbidden: isForbidden)
                                    check(policy, .init(elapsed: elapsed, tries: tries, hasOtherLogins: others))
                                    count += 1
                                }
                            }
                        }
                    }
                }
            }
        }
        print("replay policy: \(count) situations")
    }

    private func check(_ policy: ReplayPolicy, _ situation: ReplayPolicy.Situation) {
        let answer = policy.answer(situation)
        let isForgiven = situation.elapsed + policy.timeout < policy.grace
        // Without rotation nothing is ever spent, so nothing is ever given up.
        if !policy.rotates { #expect(answer == .atOnce || answer == .later) }
        if policy.rotates, policy.isForbidden { #expect(answer == .never) }
        if policy.rotates, policy.harmsOtherLogins, situation.hasOtherLogins, !isForgiven { #expect(answer == .never) }
        if answer == .exhausted { #expect(situation.elapsed >= .seconds(86_400) && situation.tries > 6) }
        if answer == .atOnce { #expect(situation.tries == 1 || (isForgiven && situation.tries <= 3)) }
        if !policy.harmsOtherLogins, !policy.isForbidden { #expect(answer != .never) }
    }

    @Test func profilesSayWhatIsKnownOfThem() throws {
        func policy(_ name: String) throws -> ReplayPolicy {
            let record = ProviderRecord(
                name: name, issuer: nil, tokenEndpoint: "https://as.example/token", clientID: "client",
                clientAuthentication: "none", profileName: name, createdAt: Timestamp(milliseconds: 0))
            return try ReplayPolicy(record)
        }
        #expect(try policy("generic") == Self.strict)
        #expect(try policy("xero").grace == .seconds(1_800))
        #expect(try policy("xero").forgivesReuse)
        #expect(try policy("okta").grace == .seconds(30))
        #expect(try !policy("google").rotates)
    }

    @Test func anotherTokenIsTriedOnlyWhereThatIsNoTheft() {
        for role in [PreviousRefreshRole.sibling, .successor] {
            #expect(Self.strict.mayTry(role, hasOtherLogins: true))
            #expect(Self.wide.mayTry(role, hasOtherLogins: false))
            #expect(!Self.wide.mayTry(role, hasOtherLogins: true))
        }
        #expect(!Self.strict.mayTry(.predecessor, hasOtherLogins: false))
        #expect(!Self.wide.mayTry(.predecessor, hasOtherLogins: false))
        #expect(ReplayPolicy(forgivesReuse: true).mayTry(.predecessor, hasOtherLogins: true))
        #expect(!ReplayPolicy(forgivesReuse: true, isForbidden: true).mayTry(.predecessor, hasOtherLogins: true))
        #expect(!ReplayPolicy(rotates: false, forgivesReuse: true).mayTry(.predecessor, hasOtherLogins: true))
    }
}
