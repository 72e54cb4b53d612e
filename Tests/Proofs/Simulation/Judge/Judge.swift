import HTTPTypes
import OAuthClient
import TokenVault
import VaultStorage

/// Knows what every part of the world has done, and says what must not be. See docs/simulation.md for the invariants.
final class Judge: @unchecked Sendable {
    struct Violation: Hashable {
        let invariant: String
        let text: String
    }

    /// A refresh token whose request somebody has sent.
    struct Sending {
        var fence: Int64
        var exchange: Exchange
    }

    /// The latest intent under which a refresh token could be sent.
    struct Intent {
        let fence: Int64
        let owner: Int64
        let login: LoginHandle
        let chain: Int64
        let isInDoubt: Bool
        let startedAt: Int64
    }

    /// A refresh token that reached a process.
    struct Delivery {
        let process: Int
        let intent: Intent
    }

    unowned var world: World!
    private(set) var violations: [Violation] = []

    var intents: [String: Intent] = [:]
    var outstanding: [String: Exchange] = [:]
    /// Sent, and no answer tells that it is unspent; by the fence of the last attempt.
    var unsure: [String: Int64] = [:]
    var delivered: [String: Delivery] = [:]
    /// When the attempt began that brought it with an access token. Lifetimes are counted from some time after it: when the
    /// server acted is not known.
    var tokenTimes: [String: Int64] = [:]
    /// In the vault, its outbox or its spool at some time.
    var stored: Set<String> = []
    /// The one to be sent next, at some time.
    var current: Set<String> = []
    /// How often each was spooled. An entry may be taken in although its tokens are in the vault already.
    var spooledTimes: [String: Int] = [:]
    /// In how many replies each arrived. Each receiver has to see to it, and knows of no other.
    var deliveries: [String: Int] = [:]
    /// In the memory of a process that died.
    var lostWithProcess: Set<String> = []
    /// Taken from a process that lived, by order: then it may be sent twice, and nobody promises anything.
    var robbed: Set<String> = []
    /// Taken over from a process that had been away from the database server for too long.
    var beyondPromise: Set<String> = []
    var queued: [String: Int] = [:]
    /// What each process queued last, and when.
    var queuedLast: [Int64: (time: Int64, tokens: [String])] = [:]
    /// How often each was queued by a commit that was reported as failed.
    var queuedUnknown: [String: Int] = [:]
    var gone: Set<LoginHandle> = []
    /// What had begun when the vault was put back: what is about to be sent is the newest token there is.
    var begunBefore: [String: Int64] = [:]
    /// Each that was given.
    var fences: Set<Int64> = []
    /// When renewals of a login were begun, by the true time.
    var begun: [LoginHandle: [Int64]] = [:]
    var requests: [LoginHandle: Int] = [:]

    func fail(_ invariant: String, _ text: String) {
        let violation = Violation(invariant: invariant, text: "\(text) (at \(world.now) ms)")
        world.trace.remark(at: world.now, "VIOLATION \(invariant): \(text)")
        violations.append(violation)
    }

    func name(_ exchange: Exchange) -> String {
        exchange.refreshToken ?? "\(exchange.request.path ?? "") \(exchange.form["token"] ?? "")"
    }

    func crashed(_ process: Int) {
        for (token, delivery) in delivered where delivery.process == process && !stored.contains(token) {
            lostWithProcess.insert(token)
        }
    }

    /// The vault was put back: what was gone since is back, and is held.
    func wentBack() {
        gone = gone.filter { world.ledger.logins[$0] == nil }
        queued = [:]
        queuedLast = [:]
        begunBefore = intents.mapValues(\.fence)
    }

    /// I15, and I16: what a caller hears.
    func thrown(_ error: any Error, by login: LoginID?) {
        if "\(error)".contains("CANARY-") || String(reflecting: error).contains("CANARY-") {
            fail("I15", "a secret in an error")
        }
        if let login, (error as? VaultError)?.code == .refreshStalled { judgeStall(of: login.handle) }
    }

    /// Whoever is called stalled has had the time of a renewal, whatever clocks say. The caller may have looked a while ago.
    private func judgeStall(of login: LoginHandle) {
        let last = begun[login]?.last { $0 <= world.now - 15_000 }
        if last.map({ $0 > world.now - 60_000 }) ?? true {
            fail("I16", "a renewal of \(login.text) is called stalled that began a moment ago")
        }
    }

    /// I8: what a caller gets.
    func given(_ token: VaultToken, of login: LoginID, before: StoredLogin?) {
        guard let before else { return fail("I8", "a token of a login that was gone before the call") }
        if token.login != login { fail("I8", "a token of another login") }
        // Where a clock was wrong, no process could tell; and what was put back is older.
        let isExcused = world.counts.clocks > 0 || world.putBacks > 0
        let isValid = token.expiresAt.map { $0 > world.time.now() } ?? true || isExcused
        if Int64(token.generation) < before.position.generation, !isValid {
            fail("I8", "an old token that has run out: generation \(token.generation)")
        }
    }
}
