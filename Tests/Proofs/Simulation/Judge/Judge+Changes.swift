import TokenVault
import VaultCrypto
import VaultStorage

// What may become durable.
extension Judge: VaultObserver {
    func loginChanged(
        from old: StoredLogin?, to new: StoredLogin?, by owner: Int64, telling events: [AuditEvent]
    ) {
        world.trace.remark(at: world.now, "commit by owner \(owner): \(describe(old)) -> \(describe(new))")
        count(events)
        guard let new else {
            if let old { gone.insert(old.handle) }
            return
        }
        if gone.contains(new.handle) { fail("I9", "a login that was gone is back") }
        for token in [new.refresh?.refreshToken, new.refresh?.previousRefresh] {
            if let text = token?.string() { stored.insert(text) }
        }
        if let token = text(new) { current.insert(token) }
        if let intent = new.intent, intent.fence != old?.intent?.fence, let token = text(new) {
            if !fences.insert(intent.fence).inserted { fail("I5", "the fence \(intent.fence) is given again") }
            begun[new.handle, default: []].append(world.now)
            intents[token] = Intent(
                fence: intent.fence, owner: intent.owner, login: new.handle, chain: new.position.chain,
                isInDoubt: intent.isInDoubt, startedAt: intent.startedAt.milliseconds - SimulatedTime.start)
            noteTakeOver(of: token, from: old?.intent?.owner, by: intent.owner)
        }
        guard let old else { return }
        if new.position.generation < old.position.generation || new.position.chain < old.position.chain {
            fail("I4", "the position goes back: \(describe(old)) -> \(describe(new))")
        }
        judgeTokens(old, new)
        judgeVerdict(old, new)
    }

    /// A process that has been away for long may lose what still comes to it, and a machine's spool is seen by that machine
    /// alone.
    private func noteTakeOver(of token: String, from former: Int64?, by owner: Int64) {
        guard let room = world.room, let former, former != owner, room.isBeyondPromise(former) else { return }
        let isElsewhere = room.machine(of: former) != room.machine(of: owner)
        if isElsewhere || room.peers[former]?.hasEnded == false { beyondPromise.insert(token) }
    }

    /// I5: a reply is stored by the attempt that the login waits for, or not at all.
    private func judgeTokens(_ old: StoredLogin, _ new: StoredLogin) {
        // One that was kept beside the current one may take its place.
        guard let token = text(new), token != text(old), token != old.refresh?.previousRefresh?.string(),
            let delivery = delivered[token]
        else { return }
        // The vault was put back beneath it: then it is the newest that there is.
        if begunBefore.values.contains(delivery.intent.fence), world.server.tokens[token]?.spentAt == nil { return }
        if old.intent?.fence != delivery.intent.fence || old.position.chain != delivery.intent.chain {
            fail("I5", "\(token) is stored by an attempt that is not the login's any more")
        }
    }

    /// I6, I7: what a login may die of.
    private func judgeVerdict(_ old: StoredLogin, _ new: StoredLogin) {
        guard let failure = new.session.failure, old.session.failure != failure else { return }
        guard let token = text(old), let grant = world.server.tokens[token]?.grant else {
            return fail("I6", "a login without a refresh token died")
        }
        let endedElsewhere = world.server.grants[grant].endedElsewhere
        if world.server.takes(token, at: world.now) { fail("I6", "dead, and the server would take \(token)") }
        switch RefreshFailure.Reason(code: failure.reason) {
        case .deadGrant:
            world.counts.deadGrants += 1
            // Without rotation nothing can be spent, so no doubt is noted.
            let isInDoubt = unsure[token] != nil && world.server.behaviour != .keeping
            if !endedElsewhere || isInDoubt { fail("I6", "deadGrant, and it was our loss: \(token)") }
        case .lostResponse:
            world.counts.lostResponses += 1
            if unsure[token] == nil, intents[token]?.isInDoubt != true, !old.session.cameAfterDoubt {
                fail("I6", "lostResponse, and nothing was in doubt: \(token)")
            }
            judgeLoss(of: token, endedElsewhere: endedElsewhere)
        default: fail("I7", "no server said that: reason \(failure.reason)")
        }
    }

    /// A reply is lost if it came to nobody, or to a process that died with it.
    private func judgeLoss(of token: String, endedElsewhere: Bool) {
        guard !endedElsewhere, !beyondPromise.contains(token) else { return }
        if let successor = world.server.tokens[token]?.successor, delivered[successor] != nil,
            !lostWithProcess.contains(successor)
        {
            fail("I3", "lostResponse, and \(successor) had arrived")
        }
        if world.server.behaviour == .keeping { fail("I3", "lostResponse at a server that never rotates") }
    }

    func revocationQueued(_ record: OutboxRecord, by owner: Int64) {
        guard let token = record.refreshToken?.string() else { return }
        world.trace.remark(at: world.now, "to be revoked: \(token)")
        stored.insert(token)
        queued[token, default: 0] += 1
        if delivered[token] != nil { world.counts.orphans += 1 }
        if queuedLast[owner]?.time != world.now { queuedLast[owner] = (world.now, []) }
        queuedLast[owner]?.tokens.append(token)
        // Again only if the process that does it cannot know that it has happened.
        let excuses =
            (current.contains(token) ? 1 : 0) + spooledTimes[token, default: 0]
            + max(0, deliveries[token, default: 0] - 1) + queuedUnknown[token, default: 0]
        if queued[token, default: 0] > 1 + excuses { fail("I9", "\(token) is queued for revocation again") }
        let grant = world.server.tokens[token]?.grant
        for login in world.ledger.logins.values where login.session.failure == nil {
            if let current = text(login), world.server.tokens[current]?.grant == grant {
                fail("I9", "\(token) is to be revoked, and its chain lives with \(current)")
            }
        }
    }

    func spooled(_ reply: SpooledReply, by owner: Int64) {
        world.counts.spooled += 1
        world.trace.remark(at: world.now, "spooled by owner \(owner): \(reply.refreshToken?.string() ?? "-")")
        guard let token = reply.refreshToken?.string() else { return }
        stored.insert(token)
        spooledTimes[token, default: 0] += 1
    }

    var now: Int64 { world.now }

    func commitUnknown(by owner: Int64, at time: Int64) {
        guard let last = queuedLast[owner], last.time == time else { return }
        for token in last.tokens { queuedUnknown[token, default: 0] += 1 }
    }

    func unreadable(_ problem: String) { fail("I17", "the vault cannot be read back: \(problem)") }

    private func count(_ events: [AuditEvent]) {
        for event in events {
            if event.kind == .renewalInDoubt { world.counts.doubts += 1 }
            if event.kind == .intentTakenOver { world.counts.takeOvers += 1 }
            for detail in event.detail where detail.value.contains("CANARY-") {
                fail("I15", "a secret in the audit trail")
            }
        }
    }

    func text(_ login: StoredLogin) -> String? { login.refresh?.refreshToken?.string() }

    func describe(_ login: StoredLogin?) -> String {
        guard let login else { return "gone" }
        let intent = login.intent.map { "intent(f\($0.fence) o\($0.owner)\($0.isInDoubt ? " doubt" : ""))" } ?? "idle"
        let failure = login.session.failure.map { " failed(\($0.reason))" } ?? ""
        return
            "\(login.userId) c\(login.position.chain) g\(login.position.generation) \(text(login) ?? "-") \(intent)\(failure)"
    }
}
