import OAuthClient
import VaultCrypto
import VaultStorage

extension ObservedReply {
    /// Nil for a row that shows nothing of the provider's rules.
    ///
    /// - Parameters:
    ///   - login: The number of the row's login.
    ///   - refusal: The login's last refusal, whose words the trail does not have.
    init?(_ entry: AuditEntry, login: Int, refusal: RefusalRecord?) {
        let event: Event
        switch entry.kind {
        case .loginCreated, .loggedInAgain: event = .logIn
        case .renewed: event = .renewal
        case .loginDead: event = .end
        default: event = .refusal
        }
        let code = refusal?.error?.string().flatMap { OAuthErrorCode($0) }
        guard code != nil || entry.facts != nil else { return nil }
        self.init(event, login: login, at: entry.time.sinceEpoch)
        self.code = code
        guard let facts = entry.facts else { return }
        nextToken = facts.nextToken.map(NextToken.init)
        age = facts.age.map { .seconds($0) }
        idle = facts.idle.map { .seconds($0) }
        guard let look = entry.look else { return }
        if facts.saysLifetime, let token = look.token, token.generation == look.generation {
            lifetime = token.expiresAt?.since(entry.time)
        }
        age = age ?? look.grant.map { entry.time.since($0.since) }
        refreshLifetime = look.refreshExpiresAt?.since(entry.time)
    }
}

extension ObservedReply.NextToken {
    fileprivate init(_ stored: ReplyFacts.NextToken) {
        self =
            switch stored {
            case .none: .none
            case .same: .same
            case .new: .new
            }
    }
}

extension Timestamp {
    fileprivate var sinceEpoch: Duration { .milliseconds(milliseconds) }
}

extension AuditEntry {
    /// Whether the row is a refusal whose code, if it has one, is in no registry: the trail holds the status alone.
    var isUnregisteredRefusal: Bool {
        guard kind == .renewalFailed || kind == .loginDead, let answer = value(AuditEvent.Detail.Key.answer) else {
            return false
        }
        return Int(answer) != nil
    }
}
