package import VaultCrypto
package import VaultStorage

// A second refresh token of the same chain is kept, sealed, until the current one has proven that it works: until it
// has been used for a renewal, or a resource server has accepted its access token, or a day has passed.
extension LoginState {
    /// Whether a late reply has brought the successor of the current token.
    var hasSuccessorInHand: Bool {
        refresh?.previousRefresh != nil && refresh?.previousRole == .successor
    }

    /// Applies a reply to the refresh token: a new one, or the old one stays valid.
    mutating func replaceRefreshToken(with reply: SpooledReply) {
        guard let new = reply.refreshToken, new != refresh?.refreshToken else {
            let since = refresh?.doubtSince ?? reply.obtainedAt
            refresh?.doubtSince = reply.hasLostSuccessor ? since : nil
            if let expiresAt = reply.refreshExpiresAt { refresh?.refreshExpiresAt = expiresAt }
            // The current one has just worked.
            if !hasSuccessorInHand { refresh?.forgetPrevious() }
            return
        }
        var record = refresh ?? RefreshRecord(refreshToken: new)
        if record.previousRefresh == new {
            record.forgetPrevious()
        } else if hasSuccessorInHand {
            // Two replies to one token: it is not known here which of them the server counts as the last.
            record.previousRole = .sibling
        } else if let old = record.refreshToken {
            record.keep(old, as: .predecessor, since: reply.obtainedAt)
        }
        record.replaceToken(with: new)
        record.refreshExpiresAt = reply.refreshExpiresAt
        record.doubtSince = nil
        refresh = record
    }

    /// Keeps the refresh token of a reply that came too late to be taken, if it may still be the one that works.
    ///
    /// - Parameter spent: the token that it was given for, if that is known.
    mutating func keepLate(_ reply: SpooledReply, spent: SecretBytes?, at now: Timestamp) {
        guard let token = reply.refreshToken, token != refresh?.refreshToken, token != refresh?.previousRefresh else {
            return
        }
        let isForCurrent = spent.map { $0 == refresh?.refreshToken } ?? (reply.position == position)
        let isBesideCurrent =
            spent.map { $0 == refresh?.previousRefresh } ?? false
            || (refresh?.previousRefresh != nil && reply.position.successor == position)
        if isForCurrent {
            refresh?.keep(token, as: .successor, since: now)
        } else if isBesideCurrent {
            refresh?.keep(token, as: .sibling, since: now)
        }
        // Otherwise its successor has been used: the token is useless now.
    }

    /// The current token is in doubt, and its successor is here: the successor is sent, not the same token again.
    mutating func takeSuccessor(at now: Timestamp) -> Bool {
        guard hasSuccessorInHand, var record = refresh, let old = record.refreshToken,
            let successor = record.previousRefresh
        else { return false }
        record.replaceToken(with: successor)
        record.refreshExpiresAt = nil
        record.doubtSince = nil
        record.keep(old, as: .predecessor, since: now)
        refresh = record
        return true
    }

    /// The current token was refused. If another one of the chain may still work, it becomes current.
    mutating func takeOtherToken(_ policy: ReplayPolicy, hasOtherLogins: Bool, at now: Timestamp) -> Bool {
        guard var record = refresh, let other = record.previousRefresh, record.mayTryPrevious(at: now),
            policy.mayTry(record.previousRole, hasOtherLogins: hasOtherLogins)
        else { return false }
        let role = record.previousRole
        record.replaceToken(with: other)
        record.refreshExpiresAt = nil
        record.doubtSince = nil
        record.forgetPrevious()
        refresh = record
        intent = nil
        session.doubtCause = nil
        if role != .predecessor {
            // If this one is refused too, a reply was lost or came too late: the user did not end the grant.
            openIntent(owner: IntentRecord.nobody, at: now, doubtSince: now)
            session.doubtCause = RenewalDoubt.Cause.lostReply.code
        }
        auditEvents.append(AuditEvent(.renewalFailed, [.cause(.otherTokenTaken)]))
        return true
    }
}

extension RefreshRecord {
    /// After this time the other token is useless, regardless of the current one.
    static let longestKept = Duration.seconds(86_400)

    package mutating func keep(_ token: SecretBytes, as role: PreviousRefreshRole, since: Timestamp) {
        previousRefresh = token
        previousRole = role
        previousSince = since
    }

    mutating func forgetPrevious() {
        previousRefresh = nil
        previousRole = .predecessor
        previousSince = nil
    }

    func mayTryPrevious(at now: Timestamp) -> Bool {
        guard let previousSince else { return true }
        return now.since(previousSince) < Self.longestKept
    }
}

extension ReplayPolicy {
    /// Whether another refresh token of the chain is sent after the current one was refused.
    ///
    /// A sibling or a successor has never been sent. A predecessor has: where that counts as theft it is not used.
    func mayTry(_ role: PreviousRefreshRole, hasOtherLogins: Bool) -> Bool {
        switch role {
        case .sibling, .successor: !(harmsOtherLogins && hasOtherLogins)
        case .predecessor: rotates && forgivesReuse && !isForbidden
        }
    }
}
