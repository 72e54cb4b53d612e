import TokenVault
import VaultStorage

// What must be true when all is quiet.
extension Judge {
    /// Whether nothing is left to be done for this login: I11, I16.
    func isAtRest(_ login: LoginID) -> Bool {
        guard let login = world.ledger.logins[login.handle] else { return true }
        if login.session.state == .terminated || login.session.failure != nil { return login.intent == nil }
        if login.incarnation < world.ledger.incarnation { return true }
        if login.userStatus == .disabled { return true }
        guard login.intent == nil, let token = text(login), let grant = world.server.tokens[token]?.grant else {
            return login.intent == nil
        }
        // Its grant was ended behind its back: the next renewal finds out.
        return !world.server.grants[grant].hasEnded
    }

    func judgeEnd() {
        for login in world.ledger.logins.values.sorted(by: { $0.handle.text < $1.handle.text }) {
            judgeRest(login)
        }
        judgeVault()
        judgeDeliveries()
        judgeLoad()
        for (owner, count) in world.ledger.spooled.sorted(by: { $0.key < $1.key }) {
            fail("I16", "the spool of owner \(owner) still holds \(count)")
        }
    }

    private func judgeRest(_ login: StoredLogin) {
        // A request that arrives late may end a grant behind everybody's back, at any time.
        let isResting = isAtRest(LoginID(login.handle)) || (login.intent == nil && login.session.failure == nil)
        if !isResting { fail("I16", "it does not come to rest: \(describe(login))") }
        guard login.session.failure == nil, login.session.state != .terminated, let token = text(login),
            let grant = world.server.tokens[token]?.grant, login.intent == nil,
            login.incarnation == world.ledger.incarnation
        else { return }
        if !world.server.takes(token, at: world.now), !world.server.grants[grant].endedElsewhere {
            fail("I3", "a chain is lost without a word: \(describe(login))")
        }
    }

    /// I17: what was committed is whole.
    private func judgeVault() {
        do {
            for finding in try world.ledger.findings() { fail("I17", finding) }
        } catch {
            unreadable("\(error)")
        }
    }

    /// I3: what came is somewhere. I9: what came for nobody is to be revoked.
    private func judgeDeliveries() {
        for (token, delivery) in delivered.sorted(by: { $0.key < $1.key }) where !stored.contains(token) {
            guard !lostWithProcess.contains(token) else { continue }
            fail("I3", "\(token) came to process \(delivery.process) and is nowhere")
        }
    }

    /// I12: no storm of requests, whatever happens.
    private func judgeLoad() {
        // A scheduler renews once in half a token's life, at most.
        var ahead = world.hasSchedulers ? 4 * Int(world.now) / (500 * world.server.lifetime) : 0
        if world.hasSchedulers { ahead += 2 * world.counts.clocks }
        for (login, count) in requests where count > 8 + 4 * world.counts.calls + 3 * world.counts.crashes + ahead {
            fail("I12", "\(count) requests for \(login.text) after \(world.counts.calls) calls")
        }
    }
}
