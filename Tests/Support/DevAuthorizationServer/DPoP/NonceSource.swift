/// Nonces handed to clients (RFC 9449 §8). A value: the time comes in, nothing goes out.
struct NonceSource: Sendable {
    let policy: AuthorizationServerConfiguration.NoncePolicy
    private var current: (nonce: String, since: Moment)?
    private var previous: (nonce: String, until: Moment)?
    /// Nonces outside the rotation: each good for one use.
    private var singleUse: Set<String> = []

    init(policy: AuthorizationServerConfiguration.NoncePolicy) {
        self.policy = policy
    }

    var isRequired: Bool { policy != .none }

    /// The nonce that a reply should bring.
    mutating func offer(at now: Moment) -> String? {
        switch policy {
        case .none: return nil
        case .requiredOnce: return offerSingleUse()
        case .required(let rotation):
            if let current, now < current.since + rotation { return current.nonce }
            let fresh = SecretSource.random(length: 22)
            previous = current.map { ($0.nonce, $0.since + rotation + rotation) }
            current = (fresh, now)
            return fresh
        }
    }

    /// A nonce that is good whatever the policy, for scripted challenges.
    mutating func offerSingleUse() -> String {
        let nonce = SecretSource.random(length: 22)
        singleUse.insert(nonce)
        return nonce
    }

    /// Whether a proof with this nonce may pass.
    mutating func accept(_ nonce: String?, at now: Moment) -> Bool {
        if let nonce, singleUse.remove(nonce) != nil { return true }
        switch policy {
        case .none: return true
        case .requiredOnce: return false
        case .required(let rotation):
            guard let nonce else { return false }
            if let current, current.nonce == nonce { return now < current.since + rotation + rotation }
            if let previous, previous.nonce == nonce { return now < previous.until }
            return false
        }
    }

    /// Forgets everything handed out, as a restarted or failed-over server does.
    mutating func reset() {
        current = nil
        previous = nil
        singleUse = []
    }
}
