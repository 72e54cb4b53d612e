import Crypto
import FoundationEssentials
import HTTPTypes
import Synchronization

/// Checks proofs for one server in the sense of RFC 9449: the token endpoint has one, the resource another,
/// since their nonces must not be mixed (§9).
final class ProofChecker: Sendable {
    private struct State {
        var nonces: NonceSource
        /// `jti` values that may not come again, with the time when they may be forgotten.
        var seen: [String: Moment] = [:]
    }

    private let lifetime: Duration
    private let leeway: Duration
    private let clock: ServerClock
    private let state: Mutex<State>

    init(configuration: AuthorizationServerConfiguration, clock: ServerClock) {
        lifetime = configuration.proofLifetime
        leeway = configuration.proofLeeway
        self.clock = clock
        state = Mutex(State(nonces: NonceSource(policy: configuration.noncePolicy)))
    }

    /// The verified proof of a request, or `nil` when it carries none.
    func proof(of request: IncomingRequest) throws(OAuthError) -> DPoPProof? {
        let fields = request.headers[values: .dpop]
        guard let field = fields.first else { return nil }
        guard fields.count == 1 else {
            throw .invalidDPoPProof("there is more than one DPoP header", reason: "two proofs")
        }
        let proof = try DPoPProof(parsing: field)
        guard proof.method == request.method.rawValue else {
            throw .invalidDPoPProof("htm is not the method of the request", reason: "wrong htm")
        }
        guard let target = TargetURI(proof.target), target == TargetURI(request.targetURI) else {
            throw .invalidDPoPProof("htu is not the target of the request", reason: "wrong htu")
        }
        return proof
    }

    /// Age and uniqueness (§11.1). The identifier counts as used from here on, whatever becomes of the request.
    func use(_ proof: DPoPProof) throws(OAuthError) {
        let now = clock.wall
        let age = Double(now.milliseconds) / 1000 - proof.issuedAt
        let lifetime = Double(lifetime.inMilliseconds) / 1000
        guard age <= lifetime, age >= -Double(leeway.inMilliseconds) / 1000 else {
            throw .invalidDPoPProof("iat is too far from this server's clock", reason: "wrong iat")
        }
        let isFresh = state.withLock { state in
            if state.seen.count > 4096 { state.seen = state.seen.filter { $0.value > now } }
            let until = now + self.lifetime + leeway
            let previous = state.seen.updateValue(until, forKey: proof.thumbprint + "/" + proof.identifier)
            return previous.map { $0 <= now } ?? true
        }
        guard isFresh else {
            throw .invalidDPoPProof("jti was used before", reason: "replayed jti")
        }
    }

    func acceptsNonce(of proof: DPoPProof) -> Bool {
        state.withLock { $0.nonces.accept(proof.nonce, at: clock.age) }
    }

    func offerNonce() -> String? {
        state.withLock { $0.nonces.offer(at: clock.age) }
    }

    func offerSingleUseNonce() -> String {
        state.withLock { $0.nonces.offerSingleUse() }
    }

    func forgetNonces() {
        state.withLock { $0.nonces.reset() }
    }

    /// `ath` (§4.2).
    static func hash(of accessToken: String) -> String {
        Base64URL.encode(SHA256.hash(data: Data(accessToken.utf8)))
    }
}
