import FoundationEssentials
import HTTPTypes
import Logging
import OAuthClient
import TokenVault
import TokenVaultTesting

/// A property of the real engine, for many worlds: a server that refuses everybody for a while costs no more logins than the
/// fuse lets through, and ends that are true are reported after as many.
///
/// Up to three processes with schedulers renew the logins of one provider, and callers ask for tokens. For a while the server
/// says `invalid_grant` to everybody. In half of the worlds it is wrong, and good again afterwards; in the others the grants have
/// ended, and an operator accepts that.
package enum MassRefusals {
    package struct Counts: Sendable {
        package var worlds = 0
        package var requests = 0
        package var refusals = 0
        /// Logins that ended although the server was wrong, and that did not.
        package var lost = 0
        package var kept = 0
        /// Logins that have ended as their grants had.
        package var ended = 0
        package var violations: [String] = []
    }

    /// Plays the worlds of these seeds. Takes over Swift's concurrency as ``Simulation`` does.
    package static func play(from first: UInt64, count: UInt64) -> Counts {
        var counts = Counts()
        for seed in first..<(first + count) { RefusingWorld(seed).play(&counts) }
        return counts
    }
}

private final class RefusingWorld: @unchecked Sendable {
    private let seed: UInt64
    private let run = WorldRun()
    private var random: SeededRandom
    private let mostDeaths: Int
    private let lifetime: Int
    /// Whether the grants have ended.
    private let isTrue: Bool
    private var isRefusing = false
    /// The number of each login's refresh token.
    private var current: [Int]
    private var requests = 0
    private var refusals = 0
    private var ended = 0
    private var problems: [String] = []

    init(_ seed: UInt64) {
        self.seed = seed
        var random = SeededRandom(seed: seed)
        mostDeaths = random.pick([0, 1, 3, 8, 12])
        lifetime = random.pick([300, 900, 3_600])
        isTrue = random.chance(50)
        current = Array(repeating: 0, count: random.between(14, 40))
        self.random = random
    }

    /// What the provider may end in a row: its own number, or the usual one.
    private var limit: Int { mostDeaths == 0 ? 8 : mostDeaths }

    func play(_ counts: inout MassRefusals.Counts) {
        Randomness.begin(seed)
        run.jobs.reset()
        if let problem = run.finish(next: { random.below($0) }, { [self] in try await live() }) {
            problems.append(problem)
        }
        run.jobs.reset()
        counts.worlds += 1
        counts.requests += requests
        counts.refusals += refusals
        if isTrue {
            counts.ended += ended
        } else {
            counts.lost += ended
            counts.kept += current.count - ended
        }
        counts.violations += problems.prefix(3).map { "seed \(seed): \($0)" }
    }

    // MARK: A world

    private func live() async throws {
        let key = try MemoryKey()
        let time = run.time
        let memory = try MemoryVault(firstSlot: key) { time.timestamp }
        var vaults: [Vault] = []
        for _ in 0..<random.between(1, 3) {
            vaults.append(
                Vault(
                    path: "memory", store: try memory.open(key), timeSource: time,
                    logger: Logger(label: "refusals") { _ in SwiftLogNoOpLogHandler() }))
        }
        try await vaults[0].addProvider(registration())
        var managers: [UserManager] = []
        for vault in vaults {
            managers.append(
                try await UserManager(
                    vault: vault, transport: RefusingTransport(self),
                    options: UserManagerOptions(
                        recoveryInterval: nil, retriesRevocationsInBackground: false,
                        random: { [unowned self] in random.unit() })))
        }
        var logins: [LoginID] = []
        for index in current.indices {
            let expiry = time.now().addingTimeInterval(Double(random.between(lifetime / 2, lifetime)))
            logins.append(
                try await managers[0].addLogin(
                    userId: "user-\(index)", provider: "server", accessToken: AccessToken("access-\(index)"),
                    expiresAt: expiry, refreshToken: RefreshToken("CANARY-\(index)-0")
                ).id)
        }
        let schedulers = managers.map { users in
            Task { try? await RenewalScheduler(users, options: SchedulerOptions(longestPause: .seconds(60))).run() }
        }
        try await call(managers, logins, for: random.between(0, lifetime))
        isRefusing = true
        try await call(managers, logins, for: random.pick([5, 60, 900, 2 * lifetime]))
        try await isTrue ? judgeTrueEnds(vaults[0], managers, logins) : judgeFalseEnds(vaults[0], managers, logins)
        for scheduler in schedulers { scheduler.cancel() }
        for scheduler in schedulers { await scheduler.value }
        for vault in vaults { await vault.close() }
    }

    /// Callers, now and then several at once.
    private func call(_ managers: [UserManager], _ logins: [LoginID], for seconds: Int) async throws {
        let end = run.events.now + Int64(seconds) * 1_000
        while run.events.now < end {
            for _ in 0..<random.pick([0, 1, 12]) {
                let (users, login) = (random.pick(managers), random.pick(logins))
                let request = random.chance(50) ? TokenRequest.renewed : TokenRequest()
                _ = Task { _ = try? await users.accessToken(for: .login(login), request) }
            }
            try await run.time.sleep(for: .seconds(random.between(1, max(1, seconds / 8))))
        }
    }

    private func judgeFalseEnds(_ vault: Vault, _ managers: [UserManager], _ logins: [LoginID]) async throws {
        let before = try await dead(logins, in: vault)
        let isStopped = try await !vault.stoppedProviders().isEmpty
        if isStopped != (before >= limit) { problems.append("\(before) ended, and stopped is \(isStopped)") }
        isRefusing = false
        try await call(managers, logins, for: 3 * 3_600)
        ended = try await dead(logins, in: vault)
        if ended > limit { problems.append("\(ended) ended, and \(limit) are the limit") }
        if isStopped, ended > before { problems.append("\(ended - before) ended while the provider was stopped") }
        if try await !vault.stoppedProviders().isEmpty { problems.append("the provider does not go on") }
        for login in logins {
            let login = try await vault.login(login)
            guard login.failure == nil else { continue }
            if login.expiresAt.map({ $0 < run.time.now() }) ?? true {
                problems.append("\(login.userId) is not renewed")
            }
        }
    }

    private func judgeTrueEnds(_ vault: Vault, _ managers: [UserManager], _ logins: [LoginID]) async throws {
        try await call(managers, logins, for: 1_800 + lifetime)
        let before = try await dead(logins, in: vault)
        if before != limit { problems.append("\(before) ended, and \(limit) are the limit") }
        let stopped = try await vault.stoppedProviders()
        if stopped.map(\.ended) != [limit] { problems.append("it is not reported after \(limit)") }
        let told = try await vault.storedEvents(after: .start, limit: 10_000).events.map(\.kind)
        let stop = SessionEvent.Kind.providerStopped(name: "server", ended: limit)
        if told.filter({ $0 == stop }).count != 1 { problems.append("there is no event, or more than one") }
        guard try await vault.acceptDeaths(ofProvider: "server") else {
            return problems.append("there was nothing to accept")
        }
        try await call(managers, logins, for: 4 * 3_600)
        ended = try await dead(logins, in: vault)
        if ended != logins.count { problems.append("\(ended) of \(logins.count) ended after they were accepted") }
    }

    private func dead(_ logins: [LoginID], in vault: Vault) async throws -> Int {
        var count = 0
        for login in logins where try await vault.login(login).failure != nil { count += 1 }
        return count
    }

    private func registration() throws -> ProviderRegistration {
        var registration = try ProviderRegistration(
            name: "server", issuer: Issuer("https://server.example"),
            tokenEndpoint: EndpointURL("https://server.example/token"),
            revocationEndpoint: EndpointURL("https://server.example/revoke"), clientID: ClientID("client"),
            authentication: .none)
        if mostDeaths > 0 { registration.mostDeaths = mostDeaths }
        return registration
    }

    // MARK: The server

    fileprivate func answer(_ form: [String: String]) async -> HTTPReply {
        try? await run.time.sleep(for: .milliseconds(random.between(10, 3_000)))
        let parts = form["refresh_token"]?.split(separator: "-") ?? []
        guard parts.count == 3, let index = Int(parts[1]), let number = Int(parts[2]) else {
            return SimulatedServer.json("{}")
        }
        requests += 1
        if isRefusing {
            refusals += 1
            return SimulatedServer.json(#"{"error":"invalid_grant"}"#, status: .badRequest)
        }
        if number != current[index] { problems.append("a refresh token of login \(index) is sent again") }
        current[index] = number + 1
        return SimulatedServer.json(
            #"{"access_token":"access-\#(index)-\#(requests)","token_type":"Bearer","expires_in":\#(lifetime),"#
                + #""refresh_token":"CANARY-\#(index)-\#(number + 1)"}"#)
    }
}

/// Carries requests to the world's server.
private final class RefusingTransport: HTTPTransport, @unchecked Sendable {
    private unowned let world: RefusingWorld

    init(_ world: RefusingWorld) { self.world = world }

    func send(
        _ request: HTTPRequest, body: [UInt8], limits: HTTPLimits
    ) async throws(HTTPTransportError) -> HTTPReply {
        await world.answer(ScriptedTransport.SentRequest(request: request, body: body).form)
    }
}
