import FoundationEssentials
import OAuthClient
import TokenVault
import VaultAdministration
import VaultCrypto
import VaultStorage

/// A call of the library's API that has not returned.
struct Call {
    let process: Int
    let name: String
    let since: Int64
    var task: Task<Void, Never>?
}

extension World {
    private enum Action {
        case read, readLong, renew, reject, cancelledRead, update, replace, logOut, logIn, disable, enable, remove
        case takeOver, crash, stall, start, visit, close, userRevokes, newNonce, wait, waitLong
    }

    private static let actions: [(weight: Int, value: Action)] = [
        (10, .read), (20, .readLong), (34, .renew), (8, .reject), (4, .cancelledRead), (6, .update), (4, .replace),
        (5, .logOut), (5, .logIn), (2, .disable), (3, .enable), (1, .remove), (3, .takeOver), (6, .crash), (4, .stall),
        (8, .start), (4, .visit),
        (2, .close), (2, .userRevokes), (4, .newNonce), (10, .wait), (5, .waitLong),
    ]

    /// Where only a scheduler renews ahead of need.
    private static let calmActions: [(weight: Int, value: Action)] = [
        (20, .read), (4, .logOut), (5, .logIn), (2, .disable), (3, .enable), (1, .remove), (3, .takeOver), (8, .crash),
        (4, .stall), (10, .start), (4, .visit), (2, .close), (1, .userRevokes), (4, .newNonce), (15, .wait),
        (15, .waitLong),
    ]

    func act() {
        let action = random.weighted(isCalm ? Self.calmActions : Self.actions)
        let running = processes.filter { $0.state == .running && $0.users != nil }
        switch action {
        case .crash:
            guard chaos.crashes > 0, let victim = pick(processes.filter(\.isAlive)) else { return }
            chaos.crashes -= 1
            crash(victim)
        case .stall:
            guard chaos.stalls > 0, let victim = pick(running) else { return }
            chaos.stalls -= 1
            stall(victim, for: Int64(random.pick([50, 3_000, 30_000, 200_000])))
        case .start:
            if processes.filter(\.isAlive).count < 3 { startProcess() }
        case .visit:
            if processes.filter(\.isAlive).count < 4, startProcess(visits: true) != nil { counts.visits += 1 }
        case .close:
            if running.count > 1, let process = pick(running) { close(process) }
        case .newNonce: server.rotateNonce()
        case .wait: pass(Int64(random.between(100, 5_000)))
        case .waitLong: pass(Int64(random.between(5, server.lifetime + 60)) * 1_000)
        default:
            guard let process = pick(running), let users = process.users else { return }
            act(action, process, users)
        }
    }

    private func pick<T>(_ choices: [T]) -> T? { choices.isEmpty ? nil : random.pick(choices) }

    /// Time passes, and what falls due happens.
    private func pass(_ milliseconds: Int64) {
        trace.note("wait", Int(milliseconds), at: now)
        let target = now + milliseconds
        while counts.steps < Self.stepLimit, step(until: target) {}
        events.advance(by: max(0, target - now))
    }

    private func act(_ action: Action, _ process: SimulatedProcess, _ users: UserManager) {
        let user = "u\(random.below(2))"
        if action == .logIn { return logIn(user) }
        if action == .enable { return call(process, "enable \(user)") { try await users.enableUser(user) } }
        if action == .disable {
            return call(process, "disable \(user)") { _ = try await users.disableUser(user) }
        }
        guard let login = logIns[user] else { return }
        switch action {
        case .read: read(process, users, login, validity: nil)
        case .readLong: read(process, users, login, validity: .seconds(random.pick([1, 60, 3_000])))
        case .renew:
            observed(process, "renew", login) { try await users.accessToken(for: .login(login), .renewed) }
        case .cancelledRead:
            read(process, users, login, validity: .seconds(3_600), deadline: random.chance(50) ? .seconds(1) : nil)
            let task = calls[lastCall]?.task
            if random.chance(70) { events.add(after: Int64(random.between(1, 300))) { task?.cancel() } }
        case .reject:
            guard let token = pick(process.tokens) else { return }
            call(process, "reject \(token.generation)") { try await users.reportRejected(token) }
        case .update:
            let (token, expiry) = (accessToken(), expiry)
            call(process, "update \(user)") {
                _ = try await users.updateAccessToken(for: .login(login), accessToken: token, expiresAt: expiry)
            }
        case .replace: replace(process, users, login, user)
        case .logOut: call(process, "logOut \(user)") { _ = try await users.logOut(.login(login)) }
        case .takeOver: takeOver(process, users, login)
        case .remove: call(process, "remove \(user)") { try await users.logOut(.login(login), revokes: false) }
        case .userRevokes:
            guard let token = ledger.logins[login.handle]?.refresh?.refreshToken?.string(),
                let grant = server.tokens[token]?.grant
            else { return }
            trace.note("userRevokes", grant, at: now)
            server.userEnds(grant)
        default: break
        }
    }

    /// What a short process does: renews or reads one login, whatever comes of it, and ends.
    func visit(_ process: SimulatedProcess) {
        guard let users = process.users, process.state == .running, let login = logIns["u\(random.below(2))"] else {
            return leave(process)
        }
        let isRenewal = random.chance(70)
        observed(process, "visit", login) { [unowned self] in
            defer { leave(process) }
            return try await users.accessToken(for: .login(login), isRenewal ? .renewed : TokenRequest())
        }
    }

    /// Unless it is needed at the end.
    private func leave(_ process: SimulatedProcess) {
        guard settledAt == nil, process.state == .running,
            processes.contains(where: { $0.state == .running && $0.users != nil && $0 !== process })
        else { return }
        close(process)
    }

    /// An operator's order, and the only way to rob a process that lives.
    private func takeOver(_ process: SimulatedProcess, _ users: UserManager, _ login: LoginID) {
        guard let stored = ledger.logins[login.handle], let intent = stored.intent,
            processes.contains(where: { $0.state == .stalled && $0.store.owner == intent.owner })
        else { return }
        if let token = stored.refresh?.refreshToken?.string() { judge.robbed.insert(token) }
        call(process, "takeOver") { try await users.takeOver(.login(login)) }
    }

    private var expiry: Date { time.now().addingTimeInterval(Double(server.lifetime)) }

    private func accessToken(_ text: String? = nil) -> AccessToken {
        guard let token = try? AccessToken(text ?? server.newName("access")) else { preconditionFailure("a token") }
        return token
    }

    /// A new grant, set by the app on the old login.
    func replace(_ process: SimulatedProcess, _ users: UserManager, _ login: LoginID, _ user: String) {
        // A login bound to a key cannot take tokens that are bound to none.
        guard server.behaviour != .nonceFirst else { return }
        let (access, refresh) = server.logIn(user)
        guard let refreshToken = try? RefreshToken(refresh) else { return }
        let (token, expiry) = (accessToken(access), expiry)
        call(process, "replace \(user)") {
            _ = try await users.updateAccessToken(
                for: .login(login), accessToken: token, expiresAt: expiry, refreshToken: refreshToken)
        }
    }

    func logIn(_ user: String) {
        guard let process = processes.first(where: { $0.state == .running && $0.users != nil }),
            let users = process.users, logIns[user].map({ ledger.logins[$0.handle] == nil }) ?? true
        else { return }
        let (access, refresh) = server.logIn(user)
        let key = server.behaviour == .nonceFirst ? DPoPKey.generate() : nil
        guard let refreshToken = try? RefreshToken(refresh) else { return }
        let (token, expiry) = (accessToken(access), expiry)
        call(process, "logIn \(user)") { [unowned self] in
            let login = try await users.addLogin(
                userId: user, provider: "server", accessToken: token, expiresAt: expiry, refreshToken: refreshToken,
                dpopKey: key)
            logIns[user] = login.id
        }
    }

    // MARK: Calls

    private func read(
        _ process: SimulatedProcess, _ users: UserManager, _ login: LoginID, validity: Duration?,
        deadline: Duration? = nil
    ) {
        observed(process, "read", login) {
            try await users.accessToken(for: .login(login), TokenRequest(minimumValidity: validity, deadline: deadline))
        }
    }

    /// A call that gives a token: is it one that may be given?
    func observed(
        _ process: SimulatedProcess, _ name: String, _ login: LoginID,
        _ body: @escaping @Sendable () async throws -> VaultToken
    ) {
        let before = ledger.logins[login.handle]
        call(process, name, login) { [unowned self] in
            let token = try await body()
            judge.given(token, of: login, before: before)
            process.tokens.append(token)
        }
    }

    func call(
        _ process: SimulatedProcess, _ name: String, _ login: LoginID? = nil,
        _ body: @escaping @Sendable () async throws -> Void
    ) {
        lastCall += 1
        counts.calls += 1
        let number = lastCall
        trace.note("call", process.number, number, at: now, name)
        calls[number] = Call(process: process.number, name: name, since: now)
        jobs.asProcess(process.number) {
            calls[number]?.task = Task { [self] in
                var outcome = "done"
                do { try await body() } catch {
                    outcome = "\(error)"
                    judge.thrown(error, by: login)
                }
                guard calls.removeValue(forKey: number) != nil else { return }
                trace.note("return", process.number, number, at: now, "\(name): \(outcome)")
            }
        }
    }
}
