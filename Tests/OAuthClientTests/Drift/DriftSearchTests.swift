import OAuthClient
import Testing

/// What replies say of a provider whose rules have changed, rule by rule. `simulate --drifts` plays whole worlds.
struct DriftSearchTests {
    private static let day = Duration.seconds(86_400)

    private func profile(_ refresh: String = "") throws -> ProviderProfile {
        try ProviderProfile(
            parsing: Array(
                #"{"profile":1,"name":"own","source":[{"url":"u","read":"2026-01-31"}],"refresh":{\#(refresh)}}"#.utf8),
            file: "own.json")
    }

    /// So many renewals of ten logins, one a minute.
    private func renewals(
        _ count: Int, from minute: Int = 0, _ next: ObservedReply.NextToken, lifetime: Int? = nil, age: Duration? = nil
    ) -> [ObservedReply] {
        (0..<count).map { index in
            var reply = ObservedReply(.renewal, login: index % 10, at: .seconds(60 * (minute + index)))
            reply.nextToken = next
            reply.lifetime = lifetime.map { .seconds($0) }
            reply.age = age
            return reply
        }
    }

    private func logIns(
        _ count: Int, from minute: Int = 0, _ next: ObservedReply.NextToken, refreshLifetime: Duration? = nil
    ) -> [ObservedReply] {
        (0..<count).map { index in
            var reply = ObservedReply(.logIn, login: 1_000 + minute + index, at: .seconds(60 * (minute + index)))
            reply.nextToken = next
            reply.refreshLifetime = refreshLifetime
            return reply
        }
    }

    private func findings(_ refresh: String = "", _ replies: [ObservedReply]) throws -> [DriftFinding] {
        DriftSearch(try profile(refresh), replies).findings()
    }

    private func patch(_ refresh: String = "", _ replies: [ObservedReply]) throws -> String? {
        let found = try findings(refresh, replies)
        #expect(found.count == 1)
        return found.first?.edits.mergePatch
    }

    // MARK: Rotation

    @Test func aStatedRotationIsContradictedByFiveReplies() throws {
        let never = #""rotation":"never","reuseBlast":"none""#
        #expect(try findings(never, renewals(200, .same) + renewals(4, from: 200, .new)).isEmpty)
        #expect(
            try patch(never, renewals(200, .same) + renewals(5, from: 200, .new))
                == #"{"refresh":{"rotation":"always","reuseBlast":"family"}}"#)
        #expect(
            try patch(never, renewals(40, .same) + renewals(5, from: 40, .new) + renewals(5, from: 45, .none))
                == #"{"refresh":{"rotation":"sometimes","reuseBlast":"family"}}"#)
        #expect(
            try patch(#""rotation":"always","graceSeconds":60"#, renewals(50, .new) + renewals(5, from: 50, .none))
                == #"{"refresh":{"rotation":"never","reuseBlast":"none","graceSeconds":0}}"#)
        let one =
            renewals(50, .same)
            + (0..<9).map { index in
                var reply = ObservedReply(.renewal, login: 3, at: .seconds(60 * (50 + index)))
                reply.nextToken = .new
                return reply
            }
        #expect(try findings(never, one).isEmpty, "one login says nothing about a provider")
    }

    @Test func withoutAStatedRotationTheRepliesBeforeCount() throws {
        #expect(try findings(renewals(60, .same) + renewals(19, from: 60, .new)).isEmpty)
        #expect(try findings(renewals(19, .same) + renewals(30, from: 19, .new)).isEmpty)
        #expect(
            try patch(renewals(20, .same) + renewals(20, from: 20, .new)) == #"{"refresh":{"rotation":"always"}}"#)
        #expect(
            try patch(renewals(60, .new) + renewals(20, from: 60, .none))
                == #"{"refresh":{"rotation":"never","reuseBlast":"none"}}"#)
        // Now and then is as it was.
        let mixed = (0..<8).flatMap { renewals(10, from: 10 * $0, $0 % 2 == 0 ? .same : .new) }
        #expect(try findings(mixed + renewals(20, from: 80, .new)).isEmpty)
    }

    @Test func oldTokensThatAreReplacedOnOneDayAreNoNews() throws {
        func once(_ age: Duration) -> [ObservedReply] {
            (0..<30).map { index in
                var reply = ObservedReply(.renewal, login: 100 + index, at: .seconds(60 * (60 + index)))
                (reply.nextToken, reply.age) = (.new, age)
                return reply
            }
        }
        let before = renewals(60, .same, age: Self.day * 10)
        #expect(try findings(before + once(Self.day * 30)).isEmpty)
        #expect(try patch(before + once(Self.day * 9)) != nil, "younger ones are news")
    }

    private func findings(_ replies: [ObservedReply]) throws -> [DriftFinding] { try findings("", replies) }
    private func patch(_ replies: [ObservedReply]) throws -> String? { try patch("", replies) }

    // MARK: Lifetimes

    @Test func aLifetimeIsWrongBeyondAFactorOfTwo() throws {
        let stated = #""assumedAccessSeconds":3600"#
        #expect(try findings(stated, renewals(60, .new, lifetime: 7_200)).isEmpty)
        #expect(try findings(stated, renewals(9, .new, lifetime: 7_201)).isEmpty)
        #expect(
            try patch(stated, renewals(10, .new, lifetime: 86_400))
                == #"{"refresh":{"assumedAccessSeconds":86400}}"#)
        #expect(try patch(renewals(40, .new, lifetime: 3_600) + renewals(10, from: 40, .new, lifetime: 600)) != nil)
        #expect(
            try findings(renewals(40, .new, lifetime: 3_600) + renewals(10, from: 40, .new, lifetime: 1_800)).isEmpty)
        // Logins of another kind live otherwise.
        let others = renewals(12, from: 40, .new, lifetime: 600).map { reply in
            var reply = reply
            reply.login += 500
            return reply
        }
        #expect(try findings(renewals(40, .new, lifetime: 3_600) + others).isEmpty)
    }

    @Test func refreshLifetimesAreThoseOfLogIns() throws {
        let stated = #""idleSeconds":2592000"#
        let replies = logIns(10, .new, refreshLifetime: Self.day)
        #expect(try patch(stated, replies) == #"{"refresh":{"idleSeconds":86400}}"#)
        #expect(try findings(stated, logIns(10, .new, refreshLifetime: Self.day * 20)).isEmpty)
        // Of a grant that ends at a fixed time, less is left at each renewal.
        var renewals = renewals(60, .new)
        for index in renewals.indices { renewals[index].refreshLifetime = .seconds(60 * (60 - index)) }
        #expect(try findings(stated, renewals).isEmpty)
    }

    @Test func refreshTokensThatAppearOrVanishAreFoundAtLogIns() throws {
        #expect(try findings(logIns(60, .new) + logIns(5, from: 60, .none)).isEmpty)
        let gone = try findings(logIns(60, .new) + logIns(8, from: 60, .none))
        #expect(gone.map(\.kind) == [.refreshTokens] && gone.first?.edits.isEmpty == true)
        #expect(try findings(logIns(60, .none) + logIns(8, from: 60, .new)).map(\.kind) == [.refreshTokens])
        #expect(
            try patch(#""chain":"accessToken","grantType":"exchange""#, logIns(60, .none) + logIns(8, from: 60, .new))
                == #"{"refresh":{"chain":"refreshToken"}}"#)
    }

    // MARK: Ends

    /// A hundred logins that began on different days, each with its last word.
    private func ends(limit: Int, _ isSpread: Bool = true) -> [ObservedReply] {
        (0..<100).map { index in
            let age = isSpread ? index * 4 : index < limit / 4 ? index : limit + 1
            var reply = ObservedReply(
                age > limit ? .end : .renewal, login: index, at: Self.day * 400 + .seconds(index * 37 % 100))
            reply.age = Self.day * age
            reply.nextToken = age > limit ? nil : .new
            return reply
        }
    }

    @Test func aLimitShowsWhereNoneThatIsOlderIsRenewed() throws {
        let found = try findings(ends(limit: 180))
        #expect(found.map(\.kind) == [.endByAge])
        #expect(found.first?.edits.mergePatch == #"{"refresh":{"absoluteSeconds":15897600}}"#)
        #expect(try findings(#""absoluteSeconds":15552000"#, ends(limit: 180)).isEmpty, "the profile knows it")
        #expect(try findings(ends(limit: 180, false)).isEmpty, "a customer has left")
        // A single older one that lives on, seen after the others.
        var replies = ends(limit: 180)
        replies[99].event = .renewal
        replies[99].at += .seconds(1_000)
        #expect(try findings(replies).isEmpty)
        var idle = ends(limit: 180)
        for index in idle.indices { (idle[index].idle, idle[index].age) = (idle[index].age, nil) }
        #expect(try findings(idle).map(\.kind) == [.endByIdleTime])
    }

    // MARK: Codes

    @Test func aCodeThatTheProfileDoesNotNameIsFoundAtThreeLogins() throws {
        func refusals(_ count: Int, _ code: String) -> [ObservedReply] {
            (0..<count).map { index in
                var reply = ObservedReply(.refusal, login: index, at: .seconds(index))
                reply.code = OAuthErrorCode(code)
                return reply
            }
        }
        #expect(try findings(refusals(2, "app_suspended")).isEmpty)
        let found = try findings(refusals(3, "app_suspended"))
        #expect(found.map(\.kind) == [.errorCode])
        #expect(found.first?.says.contains("app_suspended") == true)
        #expect(found.first?.summary.contains("app_suspended") == false, "records do not have the provider's words")
        #expect(try findings(refusals(9, "invalid_grant")).isEmpty)
    }

    // MARK: Profiles

    @Test func aPatchChangesItsFieldsAndAddsItsSource() throws {
        let document = """
            {"profile": 1, "name": "own", "source": [{"url": "https://own.example", "read": "2026-01-31"}],
             "refresh": {"rotation": "always", "idleSeconds": 86400}, "errors": {"dead": ["gone"]}}
            """
        let found = try findings(#""rotation":"always""#, renewals(50, .none))
        let changed = try ProviderProfile.document(
            Array(document.utf8), with: found.flatMap(\.edits), observed: ["seen"], on: "2026-11-28", file: "own.json")
        let profile = try ProviderProfile(parsing: changed, file: "own.json")
        #expect(profile.reply.rotation == .never)
        #expect(profile.idleLifetime == Self.day)
        #expect(profile.sources.map(\.url) == ["https://own.example", "observed"])
        #expect(profile.sources.last?.says == "seen" && profile.sources.last?.read == "2026-11-28")
        #expect(profile.reply.meanings["gone"] == .deadByProfile)
    }

    @Test(arguments: ProviderProfile.shipped.map(\.name))
    func everyShippedProfileTakesEveryPatch(_ name: String) throws {
        let file = try #require(ProviderProfile.shippedFile(name))
        let profile = try ProviderProfile.named(name)
        let edits = ["always", "never", "sometimes"].map { DriftSearch(profile, []).edits(toRotation: $0) }
        for edits in edits {
            let changed = try ProviderProfile.document(
                file, with: edits, observed: ["a \"quoted\" word"], on: "2026-11-28", file: name)
            #expect(try ProviderProfile(parsing: changed, file: name).title == profile.title)
        }
    }
}
