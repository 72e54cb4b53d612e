import HTTPTypes

/// One request to the token endpoint, before credentials and proof.
struct TokenRequest {
    var endpoint: EndpointURL
    var parameters: [FormParameter]
    var scope: Scope?
    var extra: [FormParameter]
    /// Whether it carries a refresh token or a code.
    var carriesGrant: Bool
    var insistsOnScope = false
    /// It starts with the server's newest nonce, even if another login learned it.
    var takesNewestNonce = false
    /// See ``FormRequest``.
    var asksByQuery = false
    var sendsClient = true
}

/// A request in progress, and the values learned from its replies so far.
struct RunningRequest {
    var request: TokenRequest
    var session: ProofSession
    var context: ClassificationContext
    var requestsSent = 0
    var grantsSent = 0
    /// The nonce of another login that the next request uses, if it does.
    private(set) var lent: DPoPNonce?
    /// The server has just rejected a nonce of another login.
    var wasLentInVain = false
    /// The permission to retry now, for a server that serialises retries.
    var pass: NonceGate.Pass?

    init(request: TokenRequest, session: ProofSession, context: ClassificationContext) {
        self.request = request
        self.session = session
        self.context = context
    }

    /// Uses the server's newest nonce instead of the login's own, if it differs and may be valid.
    mutating func takeNewest(_ nonces: ServerNonces) {
        lent = nil
        guard session.context != nil, !wasLentInVain, let newest = nonces.newest(at: request.endpoint.origin),
            newest != session.nonce(for: request.endpoint), newest != context.sentNonce,
            !context.triedNonces.contains(newest)
        else { return }
        session.use(newest, for: request.endpoint)
        lent = newest
    }
}

extension ServerNonces {
    /// Learns from a reply before the next request behind the gate is made.
    func learn(from reply: EndpointReply, _ outcome: TokenOutcome, _ running: inout RunningRequest) {
        let isRefused = outcome.refusesNonce
        if running.session.context != nil, case .reply(let reply) = reply {
            learn(
                DPoPNonce(in: reply.response), at: running.request.endpoint.origin, lent: running.lent,
                isRefused: reply.response.status.code < 500 ? isRefused : nil)
            running.wasLentInVain = isRefused && running.lent != nil
        }
        leaveGate(&running, isRefused: isRefused)
    }

    func leaveGate(_ running: inout RunningRequest, isRefused: Bool) {
        guard let pass = running.pass else { return }
        running.pass = nil
        gate.leave(pass, isRefused: isRefused)
    }
}

extension TokenOutcome {
    /// Whether the server asked for another nonce than the one sent.
    fileprivate var refusesNonce: Bool {
        switch self {
        case .nonceRequired, .invalidProof(.nonce): true
        case .transient(let failure): failure.cause == .nonceRepeated || failure.cause == .nonceMissing
        default: false
        }
    }
}
