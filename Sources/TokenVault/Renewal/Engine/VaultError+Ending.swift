import OAuthClient
import VaultStorage

extension VaultError {
    /// The error for a renewal that gave nothing useful to the caller, with the provider's answer.
    init(_ ending: RenewalMachine.Ending, current: SessionSnapshot, now: Timestamp) {
        let error = VaultError(of: ending, current: current, now: now)
        let answer: RefusalRecord? =
            switch ending {
            case .failed, .successorOnly(.downgraded), .refused(.providerStopped), .refused(.dead),
                .refused(.postponed):
                current.session.lastRefusal
            // Another login may have been refused: the obstacle of this one's last request does not explain that.
            case .refused(.breakerOpen): current.session.lastRefusal.flatMap { $0.failure == nil ? $0 : nil }
            default: nil
            }
        // An end is final: an earlier request's failure to arrive does not matter now.
        let shown = answer.map { ProviderAnswer($0) }.flatMap { error.code.isEnd && $0.failure != nil ? nil : $0 }
        let cause = shown.flatMap { Self.cause($0) }
        let isPermanent = shown?.failure?.isPermanent == true
        self.init(
            isPermanent && error.code == .tryLater ? .providerMisconfigured : error.code,
            cause.map { "\(error.message): \($0.words)" } ?? error.message, hint: cause?.hint ?? error.hint,
            logins: error.logins, retryAfter: error.retryAfter, answer: shown)
    }

    /// The obstacle between a renewal and its provider, and a hint.
    private static func cause(_ answer: ProviderAnswer) -> (words: String, hint: String)? {
        if answer.location != nil {
            return (
                "the token endpoint redirects, and a redirect is not followed",
                "if the provider has moved, change its token endpoint"
            )
        }
        return answer.failure.map { ($0.obstacle, $0.hint) }
    }

    private init(of ending: RenewalMachine.Ending, current: SessionSnapshot, now: Timestamp) {
        let retryAfter = current.session.notBefore.map { max(.zero, $0.since(now)) }
        switch ending {
        case .refused(let refusal):
            self.init(refusal, now: now)
        case .failed(.dead(let reason)):
            // The stored failure counts: a refusal may mean more there than by itself.
            let failure = current.session.failure.flatMap { $0.isDead ? RefreshFailure.Reason(code: $0.reason) : nil }
            self.init(dead: failure ?? reason)
        case .failed(.needsUser):
            self.init(RenewalRefusal.needsUser, now: now)
        case .failed(.clientRefused):
            self.init(.providerMisconfigured, "the provider refused this client", hint: Self.registrationHint)
        case .failed(.misconfigured) where current.session.lastRefusal?.isOfUnusableReply == true:
            self.init(wrongTokenType: nil)
        case .failed(.misconfigured):
            self.init(
                .providerMisconfigured, "the provider refused what was asked for this login",
                hint: Self.registrationHint, retryAfter: retryAfter)
        case .failed(.targetRefused):
            self.init(RenewalRefusal.targetRefused, now: now)
        case .failed(.transient), .failed(.unprocessed):
            self.init(.tryLater, "the renewal did not succeed this time", retryAfter: retryAfter)
        case .failed(.inDoubt):
            self.init(
                .tryLater, "no usable reply came; the provider may or may not have renewed", retryAfter: retryAfter)
        case .failed(.notSent(.ownershipLost)):
            self.init(RenewalRefusal.ownershipLost, now: now)
        case .failed(.notSent(.tooLate)):
            self.init(
                .tryLater, "this process was repeatedly too slow to send the renewal safely",
                hint: "look at the load of this machine")
        case .failed(.notSent(.outOfTime)):
            self.init(.tryLater, "the provider was too slow for the renewal to end in its time", retryAfter: retryAfter)
        case .failed(.postponed):
            self.init(.tryLater, "there is no token for a renewal now", retryAfter: retryAfter)
        case .failed(.withdrawn), .failed(.notSent(.changed)):
            self.init(.conflict, "the renewal was overtaken by another change")
        case .successorOnly(.downgraded):
            self.init(wrongTokenType: nil)
        case .successorOnly(.accessTokenMissing):
            self.init(
                .protocolViolation, "the provider's reply has no access token that may be used", retryAfter: retryAfter)
        case .renewed:
            self.init(
                .tryLater, "the provider's new access token is not valid for long enough", retryAfter: retryAfter)
        case .satisfied, .superseded:
            if let obstacle = RenewalRefusal(current, now: now) {
                self.init(obstacle, now: now)
            } else {
                self.init(.conflict, "the login is being changed too often")
            }
        }
    }
}

extension RefusalRecord {
    /// Whether the provider reported success, with a reply that cannot be used.
    var isOfUnusableReply: Bool { error == nil && status.map { (200..<300).contains($0) } == true }
}

extension VaultError.Code {
    /// Whether the login is over.
    fileprivate var isEnd: Bool { self == .refreshFailed || self == .lostResponse }
}
