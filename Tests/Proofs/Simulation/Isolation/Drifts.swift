import FoundationEssentials
import HTTPTypes
import Logging
import OAuthClient
import TokenVault
import TokenVaultTesting

/// A property of the real engine, for many worlds: a provider that changes its rules is reported within a day or fifty
/// replies, and one that does not is never reported.
///
/// A scheduler renews the logins of one provider. Users log in, and some end their grants; customers leave with all of
/// theirs; the server is out of order now and then. In the second world of a seed, the server changes one of its rules.
package enum Drifts {
    package struct Counts: Sendable {
        package var seeds = 0
        package var replies = 0
        package var logins = 0
        /// Looks at the replies of servers that keep to their rules.
        package var looks = 0
        package var alarms = 0
        package var changes = 0
        package var found = 0
        /// The most replies after a change until it was reported.
        package var latest = 0
        package var violations: [String] = []
    }

    package static func play(from first: UInt64, count: UInt64) -> Counts {
        var counts = Counts()
        for seed in first..<(first + count) {
            DriftingWorld(seed, changes: false).play(&counts)
            DriftingWorld(seed, changes: true).play(&counts)
            counts.seeds += 1
        }
        return counts
    }
}

/// The rules of the world's server.
private struct Rules {
    enum Rotation {
        case never, always
        case now(percent: Int)
        /// Only tokens older than this are replaced, in milliseconds.
        case ofOld(Int64)
    }

    var rotation: Rotation
    /// Of access tokens, in seconds. Logins of the second kind have the second.
    var lifetimes: [Int]
    /// So many percent more or less.
    var jitter: Int
    var givesRefreshTokens = true
    /// How long after the consent a grant ends, in milliseconds.
    var limit: Int64?
    /// An error that so many percent of the logins get from now on.
    var refusal: (code: String, percent: Int)?
}

private final class DriftingWorld: @unchecked Sendable {
    private enum Change: CaseIterable {
        case shortLives, limit, refreshTokens, noRefreshTokens, rotation, noRotation, error
    }

    private struct Grant {
        let consentedAt: Int64
        let customer: Int
        var number = 0
        var replacedAt: Int64
        var isEnded = false
    }

    private static let day: Int64 = 86_400_000

    private let seed: UInt64
    private let change: Change?
    private let run = WorldRun()
    private var random: SeededRandom
    private var rules: Rules
    private let profile: String
    private var grants: [Grant] = []
    private var issued = 0
    /// Those that can show the change.
    private var replies = 0
    private var problems: [String] = []
    /// When the rules change, and the number of replies by then.
    private var changedAt: Int64?
    private var repliesBefore = 0
    private var isOutOfOrder = false

    init(_ seed: UInt64, changes: Bool) {
        self.seed = seed
        var random = SeededRandom(seed: changes ? seed ^ 0xD21F_7000 : seed)
        let change = changes ? random.pick(Change.allCases) : nil
        self.change = change
        let lifetime = random.pick([3_600, 7_200, 86_400, 20 * 86_400])
        var rules = Rules(
            rotation: .always, lifetimes: random.chance(30) ? [lifetime, lifetime * 4] : [lifetime],
            jitter: random.pick([0, 10, 30]))
        var stated = ""
        switch random.below(5) {
        case 0: (rules.rotation, stated) = (.never, random.pick(["", #""rotation":"never","reuseBlast":"none""#]))
        case 1: stated = random.pick(["", #""rotation":"always""#])
        case 2: rules.rotation = .now(percent: random.pick([2, 20, 50, 90]))
        case 3: rules.rotation = .ofOld(Int64(lifetime) * 10_000)
        default: break
        }
        if change == nil, random.chance(30) {
            rules.limit = Int64(lifetime) * 1_000 * Int64(random.between(8, 20))
            stated += (stated.isEmpty ? "" : ",") + #""absoluteSeconds":\#((rules.limit ?? 0) / 1_000)"#
        }
        switch change {
        case .shortLives:
            rules.lifetimes = [10 * 365 * 86_400]
            rules.givesRefreshTokens = false
        case .limit: rules.lifetimes = [20 * 86_400]
        case .refreshTokens: rules.givesRefreshTokens = false
        case .rotation:
            (rules.rotation, stated) = (.never, random.pick(["", #""rotation":"never","reuseBlast":"none""#]))
        case .noRotation: (rules.rotation, stated) = (.always, random.pick(["", #""rotation":"always""#]))
        case .noRefreshTokens, .error, nil: break
        }
        if change == .noRefreshTokens || change == .error { rules.lifetimes = [86_400] }
        self.rules = rules
        profile = """
            {"profile":1,"name":"own","source":[{"url":"u","read":"2026-01-31"}],"client":{"idTokenMayBeMissing":true},
            "refresh":{\(stated)}}
            """
        self.random = random
    }

    func play(_ counts: inout Drifts.Counts) {
        Randomness.begin(seed)
        run.jobs.reset()
        let counted = Counted()
        let problem = run.finish(next: { random.below($0) }) { [self] in try await live(counted) }
        run.jobs.reset()
        if let problem { problems.append(problem) }
        counts.replies += replies
        counts.logins += grants.count
        counts.looks += counted.looks
        if change == nil {
            counts.alarms += counted.isFound ? 1 : 0
        } else {
            counts.changes += 1
            counts.found += counted.isFound ? 1 : 0
            counts.latest = max(counts.latest, counted.isFound ? replies - repliesBefore : 0)
        }
        counts.violations += problems.prefix(3).map { problem in
            "seed \(seed)\(change.map { " (\($0))" } ?? ""): \(problem)"
        }
    }

    private final class Counted: @unchecked Sendable {
        var looks = 0
        var isFound = false
        /// Whether the log says so.
        var isTold = false
    }

    private struct Log: LogHandler {
        let counted: Counted
        var metadata = Logger.Metadata()
        var logLevel = Logger.Level.warning

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            if "\(event.message)".hasPrefix("a provider's rules seem to have changed") { counted.isTold = true }
        }
    }

    // MARK: A world

    /// The shortest life of an access token, in milliseconds.
    private var beat: Int64 { Int64(rules.lifetimes[0]) * 1_000 }

    /// Whether only log-ins show the change.
    private var isAboutLogIns: Bool {
        change == .shortLives || change == .refreshTokens || change == .noRefreshTokens
    }

    private func live(_ counted: Counted) async throws {
        let key = try MemoryKey()
        let time = run.time
        let memory = try MemoryVault(firstSlot: key) { time.timestamp }
        let vault = Vault(
            path: "memory", store: try memory.open(key), timeSource: time,
            logger: Logger(label: "drifts") { _ in Log(counted: counted) })
        try await vault.addProvider(registration())
        let users = try await UserManager(
            vault: vault, transport: DriftingTransport(self),
            options: UserManagerOptions(
                recoveryInterval: nil, retriesRevocationsInBackground: false,
                random: { [unowned self] in random.unit() }))
        let pause = Duration.milliseconds(min(beat / 3, 4 * 3_600_000))
        let scheduler = Task {
            try? await RenewalScheduler(
                users, options: SchedulerOptions(longestPause: pause, auditRetention: nil, onRenewal: nil)
            ).run()
        }
        try await begin(users)
        try await go(
            users, for: change == .limit ? 2 * beat : isAboutLogIns ? 2 * Self.day : 12 * min(beat, 2 * Self.day),
            vault, counted)
        if let change {
            await check(vault, counted, isQuiet: true)
            apply(change)
            (changedAt, repliesBefore) = (run.events.now, replies)
            try await go(users, for: 200 * Self.day, vault, counted)
            if !counted.isFound {
                problems.append("the change is not reported after \(replies - repliesBefore) replies")
            }
        }
        scheduler.cancel()
        await scheduler.value
        await vault.close()
    }

    /// The customers log in, one after the other: most on one day, some over a long time.
    private func begin(_ users: UserManager) async throws {
        let span = change == .limit ? 400 * Self.day : 4 * min(beat, 2 * Self.day)
        let count = random.between(40, 70)
        var customer = 0
        while grants.count < count {
            customer += 1
            for _ in 0..<random.pick([1, 1, 1, 2, 6]) { try await logIn(users, customer) }
            try await sleep(span / Int64(count) * Int64(random.between(1, 3)))
        }
    }

    private func logIn(_ users: UserManager, _ customer: Int) async throws {
        let index = grants.count
        grants.append(
            Grant(consentedAt: run.events.now, customer: customer, replacedAt: run.events.now))
        _ = try? await users.logIn(
            LogInRequest(userId: "user-\(index)", provider: "server"),
            authorizationCode: AuthorizationCode("code-\(index)"),
            codeVerifier: nil)
    }

    private func go(_ users: UserManager, for milliseconds: Int64, _ vault: Vault, _ counted: Counted) async throws {
        let end = run.events.now + milliseconds
        var customer = 1_000
        let step = change == .limit && changedAt == nil ? 12 * 3_600_000 : min(beat / 2, 3_600_000)
        while run.events.now < end {
            let isBirth = random.chance(isAboutLogIns ? 60 : 8)
            if isBirth {
                customer += 1
                try await logIn(users, customer)
            }
            if isNow(every: 4 * beat, step) { grants[random.below(grants.count)].isEnded = true }
            if change == nil, isNow(every: 8 * beat, step) {
                let gone = grants[random.below(grants.count)].customer
                for index in grants.indices where grants[index].customer == gone { grants[index].isEnded = true }
            }
            isOutOfOrder = random.chance(2)
            try await sleep(step)
            await check(vault, counted, isQuiet: changedAt == nil)
            if isOver(counted) { return }
        }
    }

    private func isNow(every time: Int64, _ step: Int64) -> Bool { random.below(Int(time / step)) == 0 }

    /// Whether the change was reported, or is reported too late.
    private func isOver(_ counted: Counted) -> Bool {
        guard let changedAt else { return false }
        return counted.isFound || run.events.now - changedAt > 2 * Self.day && replies - repliesBefore > 60
    }

    private func check(_ vault: Vault, _ counted: Counted, isQuiet: Bool) async {
        counted.looks += changedAt == nil ? 1 : 0
        guard !counted.isFound, counted.isTold else { return }
        counted.isFound = true
        let events = (try? await vault.storedEvents(after: .start, limit: 100_000).events) ?? []
        if !events.contains(where: { $0.kind == .providerDrifted(name: "server") }) {
            problems.append("there is no event")
        }
        let findings = (try? await vault.providerDrift())?.first?.findings.map(\.says) ?? []
        if isQuiet { problems.append("a false alarm: \(findings.joined(separator: "; "))") }
        guard let changedAt else { return }
        let (hours, since) = ((run.events.now - changedAt) / 3_600_000, replies - repliesBefore)
        if hours > 25, since > 55 { problems.append("reported after \(hours) hours and \(since) replies") }
    }

    private func sleep(_ milliseconds: Int64) async throws {
        try await run.time.sleep(for: .milliseconds(max(1_000, milliseconds)))
    }

    private func registration() throws -> ProviderRegistration {
        var registration = try ProviderRegistration(
            name: "server", issuer: Issuer("https://server.example"),
            tokenEndpoint: EndpointURL("https://server.example/token"), clientID: ClientID("client"),
            authentication: .none)
        registration.redirectURI = try RedirectURI("https://app.example/callback")
        registration.profileDocument = Array(profile.utf8)
        registration.mostDeaths = 0
        return registration
    }

    // MARK: The server

    private func apply(_ change: Change) {
        switch change {
        case .shortLives:
            (rules.lifetimes, rules.givesRefreshTokens, rules.rotation) = ([86_400], true, .always)
        case .limit: rules.limit = 180 * Self.day
        case .refreshTokens: rules.givesRefreshTokens = true
        case .noRefreshTokens: rules.givesRefreshTokens = false
        case .rotation: rules.rotation = .always
        case .noRotation: rules.rotation = .never
        case .error: rules.refusal = ("app_suspended", 40)
        }
    }

    fileprivate func answer(_ form: [String: String]) async -> HTTPReply {
        try? await run.time.sleep(for: .milliseconds(random.between(10, 2_000)))
        if isOutOfOrder { return SimulatedServer.json("{}", status: .serviceUnavailable) }
        if isAboutLogIns || form["code"] == nil { replies += 1 }
        if let code = form["code"], let index = Int(code.dropFirst(5)), grants.indices.contains(index) {
            return tokens(index, isLogIn: true)
        }
        let parts = form["refresh_token"]?.split(separator: "-") ?? []
        guard parts.count == 3, let index = Int(parts[1]), grants.indices.contains(index) else {
            return SimulatedServer.json(#"{"error":"invalid_request"}"#, status: .badRequest)
        }
        if let refusal = rules.refusal, index * 37 % 100 < refusal.percent {
            return SimulatedServer.json(#"{"error":"\#(refusal.code)"}"#, status: .badRequest)
        }
        let grant = grants[index]
        if grant.isEnded || rules.limit.map({ run.events.now - grant.consentedAt > $0 }) ?? false {
            return SimulatedServer.json(#"{"error":"invalid_grant"}"#, status: .badRequest)
        }
        return tokens(index, isLogIn: false)
    }

    private func tokens(_ index: Int, isLogIn: Bool) -> HTTPReply {
        issued += 1
        let life = rules.lifetimes[index % rules.lifetimes.count]
        let seconds = life + life * random.between(-rules.jitter, rules.jitter) / 100
        var members = [
            #""access_token":"access-\#(index)-\#(issued)""#, #""token_type":"Bearer""#, #""expires_in":\#(seconds)"#,
        ]
        if isLogIn || isReplaced(index) {
            grants[index].number += 1
            grants[index].replacedAt = run.events.now
        }
        if isLogIn ? rules.givesRefreshTokens : true {
            members.append(#""refresh_token":"CANARY-\#(index)-\#(grants[index].number)""#)
        }
        return SimulatedServer.json("{\(members.joined(separator: ","))}")
    }

    private func isReplaced(_ index: Int) -> Bool {
        switch rules.rotation {
        case .never: false
        case .always: true
        case .now(let percent): random.chance(percent)
        case .ofOld(let age): run.events.now - grants[index].replacedAt > age
        }
    }
}

/// Carries requests to the world's server.
private final class DriftingTransport: HTTPTransport, @unchecked Sendable {
    private unowned let world: DriftingWorld

    init(_ world: DriftingWorld) { self.world = world }

    func send(
        _ request: HTTPRequest, body: [UInt8], limits: HTTPLimits
    ) async throws(HTTPTransportError) -> HTTPReply {
        await world.answer(ScriptedTransport.SentRequest(request: request, body: body).form)
    }
}
