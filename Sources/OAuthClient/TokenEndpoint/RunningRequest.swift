import HTTPTypes

/// One request to the token endpoint, before credentials and proof.
struct TokenRequest {
    var endpoint: EndpointURL
    var parameters: [FormParameter]
    var scope: Scope?
    var extra: [FormParameter]
    /// It holds a refresh token or a code.
    var carriesGrant: Bool
    var insistsOnScope = false
    /// It begins with the server's newest nonce, even if another login learned it.
    var takesNewestNonce = false
}

/// A request on its way, and what its replies taught so far.
struct RunningRequest {
    var request: TokenRequest
    var session: ProofSession
    var context: ClassificationContext
    var requestsSent = 0
    var grantsSent = 0
    /// The nonce of another login that the next request goes with, if it does.
    private(set) var lent: DPoPNonce?
    /// The server has just refused a nonce of another login.
    var wasLentInVain = false
    /// The right to repeat now, of a server where repeats go one after the other.
    var pass: NonceGate.Pass?

    init(request: TokenRequest, session: ProofSession, context: ClassificationContext) {
        self.request = request
        self.session = session
        self.context = context
    }

    /// Takes the newest nonce of the server in place of the login's own, if it is another one that may be good.
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
    /// Takes what a reply teaches before the next request behind the gate is made.
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
    /// Whether the server wanted another nonce than it got.
    fileprivate var refusesNonce: Bool {
        switch self {
        case .nonceRequired, .invalidProof(.nonce): true
        case .transient(let failure): failure.cause == .nonceRepeated || failure.cause == .nonceMissing
        default: false
        }
    }
}
