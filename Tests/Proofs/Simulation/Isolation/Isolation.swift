import FoundationEssentials
import HTTPTypes
import Logging
import OAuthClient
import TokenVault
import TokenVaultTesting
import VaultCrypto
import VaultStorage

/// A property of the real engine, for many scripts: whatever a provider says to one login changes nothing for another.
///
/// Three providers with fifty logins each. A script is a row of replies to one login, drawn by a seed; while it is played, others
/// renew, and nothing may hold them up. The one thing left out is what says that the client is refused: that is about everybody.
package enum Isolation {
    package struct Counts: Sendable {
        package var scripts = 0
        /// Replies that were played to logins with a script.
        package var replies = 0
        /// Renewals of others, each made at once with one request.
        package var renewals = 0
        /// Rows of others that were compared at the end of a script.
        package var rows = 0
        package var ended = 0
        package var violations: [String] = []
    }

    /// Plays the scripts of these seeds. Takes over Swift's concurrency as ``Simulation`` does.
    package static func play(from first: UInt64, count: UInt64) -> Counts {
        var counts = Counts()
        var world: IsolatedWorld?
        for seed in first..<(first + count) {
            if (seed - first) % 100 == 0 { world = IsolatedWorld() }
            world?.play(seed, &counts)
        }
        return counts
    }
}

/// One vault with all of its logins, and a process that has it open.
final class IsolatedWorld: @unchecked Sendable {
    static let perProvider = 50

    private let jobs = JobQueue.shared
    private let events = EventQueue()
    private let time: SimulatedTime
    private let key: MemoryKey
    private let memory: MemoryVault
    private var vault: Vault
    private var reader: MemoryVaultStore
    private var logins: [LoginID] = []
    private var random = SeededRandom(seed: 0)
    /// Of the login that the script is for.
    private var victim = 0
    private var script: [IsolatedReply] = []
    private var played = 0
    private var requests = 0
    /// Who was called while the script was played, and what was wrong.
    private var called: Set<LoginID> = []
    private var problems: [String] = []
    private var hasEnded = false

    init() {
        let events = events
        let time = SimulatedTime(events)
        self.time = time
        Randomness.begin(0)
        do {
            key = try MemoryKey()
            memory = try MemoryVault(firstSlot: key) { time.timestamp }
            (vault, reader) = try Self.open(memory, key, time)
        } catch {
            preconditionFailure("the vault cannot be made: \(error)")
        }
        jobs.reset()
        finish { [self] in
            for index in 0..<3 { try await vault.addProvider(Self.registration(index)) }
            let users = try await manager()
            for index in 0..<(3 * Self.perProvider) {
                let login = try await users.addLogin(
                    userId: "user-\(index)", provider: "p\(index / Self.perProvider)",
                    accessToken: AccessToken("access-\(index)"), expiresAt: time.now().addingTimeInterval(3_600),
                    refreshToken: RefreshToken("CANARY-\(index)-0"))
                logins.append(login.id)
            }
        }
    }

    private static func open(
        _ memory: MemoryVault, _ key: MemoryKey, _ time: SimulatedTime
    ) throws -> (Vault, MemoryVaultStore) {
        let store = try memory.open(key)
        let vault = Vault(
            path: "memory", store: store, timeSource: time,
            logger: Logger(label: "isolation") { _ in SwiftLogNoOpLogHandler() })
        return (vault, store)
    }

    private func manager() async throws -> UserManager {
        try await UserManager(
            vault: vault, transport: IsolatedTransport(self),
            options: UserManagerOptions(
                recoveryInterval: nil, retriesRevocationsInBackground: false,
                random: { [unowned self] in random.unit() }))
    }

    private static func registration(_ index: Int) throws -> ProviderRegistration {
        var registration = try ProviderRegistration(
            name: "p\(index)", issuer: Issuer("https://p\(index).example"),
            tokenEndpoint: EndpointURL("https://p\(index).example/token"),
            revocationEndpoint: EndpointURL("https://p\(index).example/revoke"), clientID: ClientID("client"),
            authentication: .clientSecretBasic(ClientSecret("CANARY-secret")))
        let refresh = [
            #""rotation":"never","reuseBlast":"none""#, #""rotation":"always","reuseBlast":"family""#,
            #""rotation":"always","reuseBlast":"clientUser","graceSeconds":60"#,
        ][index]
        registration.profileDocument = Array(
            """
            {"profile":1,"name":"own","source":[{"url":"u","read":"2026-01-31"}],"refresh":{\(refresh)},
            "errors":{"dead":["gone"],"needsUser":["ask_user"],"misconfigured":["wrong_tenant"],"temporary":["later"],
            "rejectionLimit":{"count":3,"seconds":600}}}
            """.utf8)
        return registration
    }

    // MARK: A script

    func play(_ seed: UInt64, _ counts: inout Isolation.Counts) {
        random = SeededRandom(seed: seed)
        victim = random.below(logins.count)
        script = (0..<random.between(1, 12)).map { _ in IsolatedReply.draw(&random) }
        played = 0
        let before = memory.database.current
        hasEnded = false
        called = [logins[victim]]
        problems = []
        finish { [self] in
            // A process that knows nothing yet of its providers.
            let users = try await manager()
            for _ in 0..<(script.count + 2) {
                _ = try? await users.accessToken(for: .login(logins[victim]), .renewed)
                if random.chance(30) { _ = try? await users.recover() }
                if random.chance(50) {
                    try await renewAnother(users, near: random.chance(80))
                }
                try await time.sleep(for: .seconds(random.pick([0, 1, 35, 400, 4_000])))
            }
            for _ in 0..<3 { try await renewAnother(users, near: true) }
            try await renewAnother(users, near: false)
        }
        counts.scripts += 1
        counts.replies += played
        counts.renewals += called.count - 1
        let changed = changedLogins(since: before)
        finish { [self] in try await judge(changed) }
        counts.rows += logins.count - 1
        if hasEnded { counts.ended += 1 }
        for problem in problems.prefix(3) {
            counts.violations.append("seed \(seed), script for login \(victim): \(problem)")
        }
        // The next script finds all logins as they were, and is played to a process that has just opened the vault.
        memory.database.putBack(before)
        reader.close()
        do { (vault, reader) = try Self.open(memory, key, time) } catch {
            counts.violations.append("seed \(seed): the vault does not open again: \(error)")
        }
    }

    /// By their rows as they lie there, sealed.
    private func changedLogins(since before: MemoryState) -> Set<LoginHandle> {
        let after = memory.database.current
        var keys = Set(after.changedRows(of: .login, since: before))
        keys.formUnion(after.changedRows(of: .loginSecret, since: before))
        for key in after.changedRows(of: .refreshIntent, since: before) {
            if let login = after.integer(Table.refreshIntent["login"], ofRow: key) { keys.insert(login) }
        }
        return Set(
            keys.compactMap { key in
                (after.bytes16(Table.login["handle"], ofRow: key)
                    ?? before.bytes16(Table.login["handle"], ofRow: key)).map { LoginHandle($0) }
            })
    }

    private func judge(_ changed: Set<LoginHandle>) async throws {
        hasEnded = try await reader.login(logins[victim].handle).session.failure != nil
        for (index, login) in logins.enumerated() where index != victim && changed.contains(login.handle) {
            guard called.contains(login), let row = try? await reader.login(login.handle) else {
                problems.append("login \(index) has changed")
                continue
            }
            let isHealthy =
                row.session.failure == nil && row.session.notBefore == nil && row.session.rejections == nil
                && row.intent == nil && row.refresh?.refreshToken != nil
            if !isHealthy { problems.append("login \(index) is not as it should be") }
        }
    }

    /// Renews a login that has no script: at once, with one request.
    private func renewAnother(_ users: UserManager, near: Bool) async throws {
        var index = victim
        while index == victim {
            index =
                near
                ? victim / Self.perProvider * Self.perProvider + random.below(Self.perProvider)
                : random.below(logins.count)
        }
        let (sent, began) = (requests, events.now)
        do {
            let token = try await users.accessToken(for: .login(logins[index]), .renewed)
            if !token.accessToken.reveal().hasPrefix("access-\(index)-") {
                problems.append("login \(index) got another's token")
            }
        } catch {
            problems.append("login \(index) got \((error as? VaultError)?.code.description ?? "\(error)")")
        }
        if requests != sent + 1 { problems.append("login \(index) took \(requests - sent) requests") }
        if events.now != began { problems.append("login \(index) waited \(events.now - began) ms") }
        called.insert(logins[index])
    }

    // MARK: The server

    fileprivate func answer(_ form: [String: String]) -> Result<HTTPReply, HTTPTransportError> {
        let parts = form["refresh_token"]?.split(separator: "-") ?? []
        guard parts.count == 3, let index = Int(parts[1]), let number = Int(parts[2]) else {
            return .success(IsolatedReply.error("invalid_grant").reply)
        }
        requests += 1
        if index == victim, played < script.count {
            played += 1
            return script[played - 1].result(
                successor: "CANARY-\(index)-\(number + 1)", sent: "CANARY-\(index)-\(number)")
        }
        let next = index / Self.perProvider == 0 ? number : number + 1
        return .success(
            IsolatedReply.ok(
                #"{"access_token":"access-\#(index)-\#(requests)","token_type":"Bearer","expires_in":3600,"#
                    + #""refresh_token":"CANARY-\#(index)-\#(next)"}"#
            ).reply)
    }

    // MARK: Steps

    /// Lets everything happen until `body` is done.
    private func finish(_ body: @escaping @Sendable () async throws -> Void) {
        let end = End()
        jobs.asProcess(1) {
            _ = Task {
                do { try await body() } catch { preconditionFailure("a script broke off: \(error)") }
                end.isReached = true
            }
        }
        while !end.isReached || !jobs.ready.isEmpty {
            if !jobs.ready.isEmpty {
                jobs.run(random.below(jobs.ready.count))
            } else if let event = events.takeNext() {
                jobs.asProcess(1) { event.action() }
            } else {
                preconditionFailure("a script does not go on")
            }
        }
    }

    private final class End: @unchecked Sendable {
        var isReached = false
    }
}

/// Answers for the world, without delay.
private final class IsolatedTransport: HTTPTransport, @unchecked Sendable {
    private unowned let world: IsolatedWorld

    init(_ world: IsolatedWorld) { self.world = world }

    func send(
        _ request: HTTPRequest, body: [UInt8], limits: HTTPLimits
    ) async throws(HTTPTransportError) -> HTTPReply {
        try world.answer(ScriptedTransport.SentRequest(request: request, body: body).form).get()
    }
}
