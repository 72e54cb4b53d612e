package import VaultStorage

/// An earlier attempt with the same refresh token, whose outcome is unknown.
package struct Doubt: Equatable, Sendable {
    package let since: Timestamp
    package let cause: RenewalDoubt.Cause
}

extension IntentRecord {
    /// Whether this refresh token may be spent: an attempt said so, or no process is left that knows.
    package func doubt(cause: UInt8?, isAbandoned: Bool) -> Doubt? {
        if let doubtSince {
            return Doubt(since: doubtSince, cause: cause.map { RenewalDoubt.Cause(code: $0) } ?? .lostReply)
        }
        return isAbandoned && !isAsking ? Doubt(since: startedAt, cause: .ownerDied) : nil
    }
}

extension RefreshRecord {
    /// The doubt that remains after a renewal, although it succeeded.
    var doubt: Doubt? { doubtSince.map { Doubt(since: $0, cause: .lostReply) } }
}

extension LoginState {
    /// How often the current refresh token has been sent, as far as the outcome is unknown.
    func timesSent(_ isUnspent: (Int64) -> Bool) -> Int {
        guard let intent else { return refresh?.doubtSince == nil ? 0 : 1 }
        return !intent.isInDoubt && isUnspent(intent.fence) ? 0 : intent.tries
    }

    /// Takes an attempt from its owner, who may be alive: it is in doubt from its beginning, and any process may
    /// continue it.
    ///
    /// The fence is new, so that nothing that the owner does later counts.
    package mutating func takeOver(_ intent: IntentRecord, at now: Timestamp) {
        guard !intent.isAsking else {
            // Nothing was sent: the next renewal asks the app again.
            self.intent = nil
            auditEvents.append(AuditEvent(.intentTakenOver))
            return
        }
        openIntent(
            owner: IntentRecord.nobody, at: now, doubtSince: intent.doubtSince ?? intent.startedAt, tries: intent.tries)
        session.doubtCause = RenewalDoubt.Cause.takenOver.code
        auditEvents.append(
            AuditEvent(.intentTakenOver, [.cause(RenewalDoubt.Cause.takenOver)]))
    }
}
