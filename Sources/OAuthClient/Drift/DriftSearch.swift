/// Compares what a provider's replies show with what its profile says.
///
/// A profile that says nothing about a rule is compared with the replies before. A finding needs several logins, and
/// evidence that chance brings about less often than once in ten million times.
package struct DriftSearch {
    let profile: ProviderProfile
    /// The oldest first.
    let replies: [ObservedReply]

    /// The last replies that a stated rule is compared with.
    private static let window = 50
    /// Replies, and logins, that contradict a stated rule.
    private static let leastReplies = 5
    private static let leastLogins = 3
    /// Replies in a row that show a new rule, and at least as many before them showed another.
    private static let leastSince = 20
    /// Lifetimes in a row, likewise.
    private static let leastTimes = 10
    private static let leastTimesBefore = 30
    /// The last ends that are examined, each as the first one under a new rule.
    private static let mostEnds = 100

    package init(_ profile: ProviderProfile, _ replies: [ObservedReply]) {
        self.profile = profile
        self.replies = replies.sorted { $0.at < $1.at }
    }

    package func findings() -> [DriftFinding] {
        [rotation, accessLifetime, refreshLifetime, refreshTokens, endByAge, endByIdleTime].compactMap(\.self)
            + errorCodes
    }

    // MARK: Rotation

    private var rotation: DriftFinding? {
        guard !profile.renewsByAccessToken else { return nil }
        let renewals = replies.filter { $0.event == .renewal && $0.nextToken != nil }
        switch profile.reply.rotation {
        case .never: return contradiction(of: "never", in: renewals, replaced: true)
        case .always: return contradiction(of: "always", in: renewals, replaced: false)
        case .sometimes: return newRotation(in: renewals)
        }
    }

    private func contradiction(of stated: String, in renewals: [ObservedReply], replaced: Bool) -> DriftFinding? {
        let recent = renewals.suffix(Self.window)
        guard let first = recent.firstIndex(where: { $0.isReplaced == replaced }) else { return nil }
        let since = recent[first...]
        let evidence = since.filter { $0.isReplaced == replaced }
        guard evidence.count >= Self.leastReplies, evidence.loginCount >= Self.leastLogins else { return nil }
        let isAlways = evidence.count == since.count
        let now = isAlways ? (replaced ? "always" : "never") : "sometimes"
        let share = isAlways ? "all of the last \(since.count)" : "\(evidence.count) of the last \(since.count)"
        return DriftFinding(
            .rotation,
            "\(share) renewals \(replaced ? "replaced" : "kept") the refresh token; the profile says rotation: \(stated)",
            evidence, edits: edits(toRotation: now))
    }

    /// Where only old tokens are replaced, many may be on one day: it must happen to younger logins than before, or again and
    /// again.
    private func newRotation(in renewals: [ObservedReply]) -> DriftFinding? {
        guard let last = renewals.last else { return nil }
        let since = renewals.suffix(while: { $0.isReplaced == last.isReplaced })
        let before = renewals.dropLast(since.count)
        let alike = before.count { $0.isReplaced == last.isReplaced }
        guard since.count >= Self.leastSince, before.count >= Self.leastSince, alike * 20 <= before.count,
            Chance.isTooSmall(allOf: since.count, marked: since.count + alike, of: renewals.count)
        else { return nil }
        if last.isReplaced {
            var times: [Int: Int] = [:]
            for reply in since { times[reply.login, default: 0] += 1 }
            let oldest = before.compactMap(\.age).max() ?? .zero
            let younger = since.filter { $0.age.map { $0 < oldest } ?? false }
            guard
                times.values.count(where: { $0 > 1 }) >= Self.leastLogins
                    || younger.count >= Self.leastReplies && younger.loginCount >= Self.leastLogins
            else { return nil }
        }
        let words = last.isReplaced ? ("replaced", "none", "always") : ("kept", "nearly all", "never")
        return DriftFinding(
            .rotation,
            "all of the last \(since.count) renewals \(words.0) the refresh token; before, \(words.1) of \(before.count) "
                + "replaced it",
            since, edits: edits(toRotation: words.2))
    }

    /// Without rotation nothing is reused. With it, the default of the punishment is the careful one.
    package func edits(toRotation rotation: String) -> [ProfileEdit] {
        let refresh = profile.refresh
        var edits = [ProfileEdit("refresh", "rotation", .word(rotation))]
        if rotation == "never" {
            if refresh.reuseBlast != .none { edits.append(ProfileEdit("refresh", "reuseBlast", .word("none"))) }
            if refresh.graceEnds != .time { edits.append(ProfileEdit("refresh", "graceEnds", .word("time"))) }
            if refresh.grace > .zero { edits.append(ProfileEdit("refresh", "graceSeconds", .seconds(.zero))) }
        } else if refresh.rotation == .never {
            edits.append(ProfileEdit("refresh", "reuseBlast", .word("family")))
        }
        return edits
    }

    // MARK: Lifetimes

    private var accessLifetime: DriftFinding? {
        change(
            of: .accessLifetime, "access tokens", \.lifetime, in: replies.filter { $0.event != .refusal },
            stated: profile.assumedLifetime
        ) { [ProfileEdit("refresh", "assumedAccessSeconds", .seconds($0))] }
    }

    /// Of log-ins only: at a renewal, a part of the time may be over.
    private var refreshLifetime: DriftFinding? {
        let (idle, absolute) = (profile.idleLifetime, profile.absoluteLifetime)
        return change(
            of: .refreshLifetime, "refresh tokens of new log-ins", \.refreshLifetime,
            in: replies.filter { $0.event == .logIn }, stated: [idle, absolute].compactMap(\.self).min()
        ) { time in
            // Without a stated lifetime the reply's own counts, and no field is wrong.
            if let absolute, absolute <= idle ?? absolute {
                return [ProfileEdit("refresh", "absoluteSeconds", .seconds(time))]
            }
            return idle == nil ? [] : [ProfileEdit("refresh", "idleSeconds", .seconds(time))]
        }
    }

    private func change(
        of kind: DriftFinding.Kind, _ things: String, _ time: (ObservedReply) -> Duration?,
        in replies: [ObservedReply], stated: Duration?, edits: (Duration) -> [ProfileEdit]
    ) -> DriftFinding? {
        let timed = replies.compactMap { reply in time(reply).map { (reply: reply, time: $0) } }
        func finding(_ since: ArraySlice<(reply: ObservedReply, time: Duration)>, _ before: String) -> DriftFinding {
            let now = since.map(\.time).median
            return DriftFinding(
                kind, "the last \(since.count) \(things) live \(now.words); \(before)", since.map(\.reply),
                edits: edits(now))
        }
        if let stated {
            let since = timed.suffix(while: { !$0.time.isLike(stated) })
            guard since.count >= Self.leastTimes, since.map(\.reply).loginCount >= Self.leastLogins else { return nil }
            return finding(since, "the profile says \(stated.words)")
        }
        let usual = timed.dropLast(Self.leastTimes).map(\.time).median
        let since = timed.suffix(while: { !$0.time.isLike(usual) })
        let before = timed.dropLast(since.count)
        guard since.count >= Self.leastTimes, before.count >= Self.leastTimesBefore,
            before.count(where: { !$0.time.isLike(usual) }) * 20 <= before.count
        else { return nil }
        // Logins of another kind may live otherwise: the same logins must have changed, or every new one.
        let earlier = Set(before.map(\.reply.login))
        let changed = Set(since.map(\.reply.login)).intersection(earlier)
        let added = since.filter { $0.reply.event == .logIn }.map(\.reply).loginCount
        guard changed.count >= Self.leastLogins || added >= Self.leastTimes else { return nil }
        return finding(since, "before, they lived \(usual.words)")
    }

    // MARK: Refresh tokens of log-ins

    private var refreshTokens: DriftFinding? {
        let logIns = replies.filter { $0.event == .logIn && $0.nextToken != nil }
        guard let last = logIns.last else { return nil }
        let since = logIns.suffix(while: { $0.isReplaced == last.isReplaced })
        let before = logIns.dropLast(since.count)
        let alike = before.count { $0.isReplaced == last.isReplaced }
        guard since.count >= Self.leastReplies, alike * 20 <= before.count,
            Chance.isTooSmall(allOf: since.count, marked: since.count + alike, of: logIns.count)
        else { return nil }
        let words = last.isReplaced ? "a refresh token" : "no refresh token"
        return DriftFinding(
            .refreshTokens,
            "the last \(since.count) log-ins brought \(words); before, \(before.count - alike) of \(before.count) "
                + (last.isReplaced ? "brought none" : "brought one"),
            since,
            edits: profile.renewsByAccessToken && last.isReplaced
                ? [ProfileEdit("refresh", "chain", .word("refreshToken"))] : [])
    }

    // MARK: Ends

    private var endByAge: DriftFinding? {
        end(.endByAge, \.age, known: profile.absoluteLifetime, "after the user's consent", "absoluteSeconds")
    }

    private var endByIdleTime: DriftFinding? {
        end(.endByIdleTime, \.idle, known: profile.idleLifetime, "after their last renewal", "idleSeconds")
    }

    /// A time after which every login ends, and none is renewed since some moment. Ends that the profile explains do not
    /// count, nor do those of logins that began together: one customer may have left.
    private func end(
        _ kind: DriftFinding.Kind, _ time: (ObservedReply) -> Duration?, known: Duration?, _ after: String,
        _ field: String
    ) -> DriftFinding? {
        let outcomes = replies.filter { $0.event == .renewal || $0.event == .end && !isExplained($0) }
            .compactMap { reply in time(reply).map { (reply: reply, time: $0) } }
        var found: ArraySlice<(reply: ObservedReply, time: Duration)> = []
        for start in outcomes.indices.filter({ outcomes[$0].reply.event == .end }).suffix(Self.mostEnds) {
            var last: [Int: (reply: ObservedReply, time: Duration)] = [:]
            for outcome in outcomes[start...] { last[outcome.reply.login] = outcome }
            let longest = last.values.filter { $0.reply.event == .renewal }.map(\.time).max() ?? .zero
            let ended = last.values.filter { $0.reply.event == .end }
            let old = ended.filter { $0.time > longest }.sorted { $0.time > $1.time }
            guard old.count >= max(Self.leastReplies, found.count + 1), let limit = old.last?.time,
                known.map({ limit < $0 * 0.9 }) ?? true,
                old.map({ $0.reply.at - $0.time }).isSpread(over: limit / 10),
                Chance.isTooSmall(allOf: old.count, marked: ended.count, of: last.count)
            else { continue }
            found = old[...]
        }
        guard let limit = found.last?.time else { return nil }
        return DriftFinding(
            kind,
            "\(found.count) logins ended, the first of them \(limit.words) \(after), and none that is older was renewed since",
            found.map(\.reply), edits: [ProfileEdit("refresh", field, .seconds(limit.rounded))])
    }

    private func isExplained(_ end: ObservedReply) -> Bool {
        func isOver(_ time: Duration?, _ limit: Duration?) -> Bool {
            if let time, let limit { time >= limit * 0.9 } else { false }
        }
        return isOver(end.age, profile.absoluteLifetime) || isOver(end.idle, profile.idleLifetime)
    }

    // MARK: Codes

    private var errorCodes: [DriftFinding] {
        var known: [OAuthErrorCode: [ObservedReply]] = [:]
        for reply in replies {
            guard let code = reply.code, !profile.reply.names(code) else { continue }
            known[code, default: []].append(reply)
        }
        return known.sorted { $0.key.rawValue < $1.key.rawValue }.compactMap { code, refusals in
            guard refusals.loginCount >= Self.leastLogins else { return nil }
            let count = "\(refusals.loginCount) logins were refused with"
            return DriftFinding(
                .errorCode, "\(count) \(code.rawValue), which the profile does not name",
                summary: "\(count) an error code that the profile does not name", refusals)
        }
    }
}

/// Whether something may have happened by chance.
private enum Chance {
    private static let least = 1e-7

    /// Whether it is too improbable that, of all `count`, exactly these `chosen` are among the marked ones.
    static func isTooSmall(allOf chosen: Int, marked: Int, of count: Int) -> Bool {
        guard chosen <= marked, marked <= count else { return false }
        var chance = 1.0
        for index in 0..<chosen { chance *= Double(marked - index) / Double(count - index) }
        return chance < least
    }
}

extension ObservedReply {
    fileprivate var isReplaced: Bool { nextToken == .new }
}

extension Collection<ObservedReply> {
    fileprivate var loginCount: Int { Set(map(\.login)).count }
}

extension BidirectionalCollection {
    /// The longest end whose elements all satisfy the condition.
    fileprivate func suffix(while isWanted: (Element) -> Bool) -> SubSequence {
        var start = endIndex
        while start > startIndex, isWanted(self[index(before: start)]) { start = index(before: start) }
        return self[start...]
    }
}

extension Collection<Duration> {
    fileprivate func isSpread(over time: Duration) -> Bool {
        guard let first = self.min(), let last = self.max() else { return false }
        return last - first >= time
    }

    fileprivate var median: Duration { isEmpty ? .zero : sorted()[count / 2] }
}

extension Duration {
    /// Whether neither is more than twice the other.
    fileprivate func isLike(_ other: Duration) -> Bool { self <= other * 2 && other <= self * 2 }

    /// Whole days, hours or minutes, whichever it has at least two of.
    fileprivate var rounded: Duration {
        let unit: Duration =
            self >= .seconds(172_800) ? .seconds(86_400) : self >= .seconds(7_200) ? .seconds(3_600) : .seconds(60)
        return self < .seconds(120) ? .seconds(Swift.max(1, components.seconds)) : unit * Int((self / unit).rounded())
    }

    fileprivate var words: String {
        switch rounded.components.seconds {
        case 172_800...: "\(rounded.components.seconds / 86_400) days"
        case 7_200...: "\(rounded.components.seconds / 3_600) hours"
        case 120...: "\(rounded.components.seconds / 60) minutes"
        default: "\(rounded.components.seconds) seconds"
        }
    }
}
