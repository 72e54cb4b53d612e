import HTTPTypes
import OAuthClient
import VaultStorage

// What may be sent, and what is known after a reply.
extension Judge {
    func willSend(_ exchange: Exchange) {
        guard let token = exchange.refreshToken else { return }
        let process = world.processes[exchange.process - 1]
        let isRobbed = robbed.contains(token)
        if !isRobbed, let other = outstanding[token], other.isOpen, world.processes[other.process - 1].isAlive {
            fail("I1", "two requests with \(token), of process \(other.process) and process \(exchange.process)")
        }
        outstanding[token] = exchange
        guard let intent = intents[token], intent.owner == process.store.owner else {
            return isRobbed ? () : fail("I2", "\(token) is sent without an intent of its sender")
        }
        if let fence = unsure[token], fence != intent.fence, !intent.isInDoubt, world.server.behaviour != .keeping {
            fail("I1", "\(token) is sent again by somebody who does not know of the first time")
        }
        exchange.wasUnsure = unsure[token] != nil
        unsure[token] = intent.fence
        requests[intent.login, default: 0] += 1
        guard let login = world.ledger.logins[intent.login] else { return }
        if login.incarnation < world.ledger.incarnation, begunBefore[token] != intent.fence {
            fail("I14", "a held login sends")
        }
        if login.session.failure != nil, login.intent?.fence == intent.fence { fail("I6", "a dead login sends") }
    }

    func replied(_ exchange: Exchange, _ fate: Fate, _ reply: HTTPReply, refreshToken: String?) {
        guard let sent = exchange.refreshToken else { return }
        if let refreshToken, let intent = intents[sent] {
            delivered[refreshToken] = Delivery(process: exchange.process, intent: intent)
            tokenTimes[refreshToken] = fate == .partial ? nil : intent.startedAt
            deliveries[refreshToken, default: 0] += 1
        }
        let isDefinite =
            switch fate {
            case .good, .partial: reply.response.status == .ok || !exchange.wasUnsure && !isChallenge(reply)
            // A server that is too busy has not acted.
            case .clientRefused, .throttled, .failedBefore: !exchange.wasUnsure
            default: false
            }
        if isDefinite { unsure[sent] = nil }
    }

    func failed(_ exchange: Exchange, _ fate: Fate) {
        guard let sent = exchange.refreshToken else { return }
        if fate == .unreachable, !exchange.wasUnsure { unsure[sent] = nil }
    }

    /// A request that its sender had given up has ended its chain: the token's successor was in use by then.
    ///
    /// A caller that needs a token cannot wait for such requests. A scheduler can, and where the server would have forgiven it
    /// must: for a minute, or until callers would renew. Without an access token it need not.
    func arrivedTooLate(_ exchange: Exchange) {
        world.counts.lateEnds += 1
        // A clock that was set makes tokens due.
        guard world.isCalm, world.counts.clocks == 0, world.server.behaviour == .grace,
            let name = exchange.refreshToken,
            let token = world.server.tokens[name], let spentAt = token.spentAt, let successor = token.successor,
            let next = world.server.tokens[successor]?.spentAt, next < world.settledAt ?? .max,
            world.now - spentAt < Behaviour.forgiveness, let since = tokenTimes[successor]
        else { return }
        let rest = Int64(min(60_000, world.server.lifetime * 800))
        // What is due is rounded down.
        if next - since < rest - 1_000 {
            fail("I10", "\(name) arrived late, and its successor had been spent ahead of need after \(next - since) ms")
        }
    }

    private func isChallenge(_ reply: HTTPReply) -> Bool {
        String(decoding: reply.body, as: UTF8.self).contains("use_dpop_nonce")
    }
}
