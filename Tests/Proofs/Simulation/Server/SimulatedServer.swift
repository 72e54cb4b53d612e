import FoundationEssentials
import HTTPTypes
import OAuthClient

/// An authorization server that knows what it has done, so that somebody else can judge what was done to it.
final class SimulatedServer {
    struct Grant {
        let user: String
        /// Revoked for whatever reason.
        var hasEnded = false
        /// By its user, or by a request that came so late that its sender could not know: not the vault's fault.
        var endedElsewhere = false
        /// By a revocation request.
        var wasRevoked = false
    }

    struct Token {
        let grant: Int
        var successor: String?
        var spentAt: Int64?
        /// Spent for nothing: it was taken before a nonce was asked for.
        var isWasted = false
    }

    let behaviour: Behaviour
    let lifetime: Int
    private(set) var grants: [Grant] = []
    private(set) var tokens: [String: Token] = [:]
    private(set) var nonce = 1
    private(set) var rotations = 0
    private(set) var reuses = 0
    private var lastToken = 0

    init(_ behaviour: Behaviour, lifetime: Int) {
        self.behaviour = behaviour
        self.lifetime = lifetime
    }

    /// What a user's log-in gives.
    func logIn(_ user: String) -> (access: String, refresh: String) {
        grants.append(Grant(user: user))
        return (newName("access"), newToken(grants.count - 1))
    }

    func newName(_ kind: String) -> String {
        lastToken += 1
        return "CANARY-\(kind)-\(lastToken)"
    }

    private func newToken(_ grant: Int) -> String {
        let name = newName("refresh")
        tokens[name] = Token(grant: grant)
        return name
    }

    func userEnds(_ grant: Int) {
        grants[grant].hasEnded = true
        grants[grant].endedElsewhere = true
    }

    func rotateNonce() { nonce += 1 }

    /// Whether a refresh with this token would give tokens.
    func takes(_ name: String, at now: Int64) -> Bool {
        guard let token = tokens[name], !grants[token.grant].hasEnded, !token.isWasted else { return false }
        guard let spentAt = token.spentAt else { return true }
        return isForgiven(token, spentAt, now)
    }

    private func isForgiven(_ token: Token, _ spentAt: Int64, _ now: Int64) -> Bool {
        guard behaviour == .grace || behaviour == .branching, now - spentAt < Behaviour.forgiveness else {
            return false
        }
        // The same successor again, as long as that is unused.
        return behaviour == .branching || token.successor.flatMap { tokens[$0]?.spentAt } == nil
    }

    // MARK: Requests

    struct Answer {
        var reply: HTTPReply
        /// The refresh token in it.
        var refreshToken: String?
    }

    /// - Parameter isLate: its sender has given it up.
    func answer(_ request: HTTPRequest, _ form: [String: String], at now: Int64, isLate: Bool) -> Answer {
        if request.path == "/revoke" { return revoke(form["token"] ?? "") }
        guard let name = form["refresh_token"] else { return wantsNonce() }
        guard let token = tokens[name] else { return error("invalid_grant") }
        guard !grants[token.grant].hasEnded else { return error("invalid_grant") }
        if behaviour == .keeping { return give(nil) }
        if token.spentAt == nil, !token.isWasted {
            if behaviour == .nonceFirst, Self.nonce(in: request) != "n\(nonce)" {
                tokens[name]?.isWasted = true
                return wantsNonce()
            }
            return rotate(name, token, now)
        }
        if let spentAt = token.spentAt, isForgiven(token, spentAt, now) {
            return behaviour == .branching ? rotate(name, token, now) : give(token.successor)
        }
        reuses += 1
        grants[token.grant].hasEnded = true
        if isLate { grants[token.grant].endedElsewhere = true }
        return error("invalid_grant")
    }

    private func rotate(_ name: String, _ token: Token, _ now: Int64) -> Answer {
        rotations += 1
        let successor = newToken(token.grant)
        tokens[name]?.spentAt = token.spentAt ?? now
        tokens[name]?.successor = successor
        return give(successor)
    }

    private func revoke(_ name: String) -> Answer {
        if let grant = tokens[name]?.grant {
            grants[grant].hasEnded = true
            grants[grant].wasRevoked = true
        }
        return Answer(reply: HTTPReply(response: HTTPResponse(status: .ok)))
    }

    private func give(_ refreshToken: String?) -> Answer {
        let type = behaviour == .nonceFirst ? "DPoP" : "Bearer"
        var members =
            #""access_token":"\#(newName("access"))","token_type":"\#(type)","expires_in":\#(lifetime)"#
        if let refreshToken { members += #","refresh_token":"\#(refreshToken)""# }
        return Answer(reply: Self.json("{\(members)}", nonce: nonceField), refreshToken: refreshToken)
    }

    private var nonceField: String? { behaviour == .nonceFirst ? "n\(nonce)" : nil }

    private func error(_ code: String) -> Answer {
        Answer(reply: Self.json(#"{"error":"\#(code)"}"#, status: .badRequest, nonce: nonceField))
    }

    private func wantsNonce() -> Answer {
        Answer(reply: Self.json(#"{"error":"use_dpop_nonce"}"#, status: .badRequest, nonce: "n\(nonce)"))
    }

    static func json(_ body: String, status: HTTPResponse.Status = .ok, nonce: String? = nil) -> HTTPReply {
        var fields = HTTPFields()
        fields[.contentType] = "application/json"
        if let nonce, let name = HTTPField.Name("DPoP-Nonce") { fields[name] = nonce }
        return HTTPReply(response: HTTPResponse(status: status, headerFields: fields), body: Array(body.utf8))
    }

    /// Of the proof: its claims are the second part (RFC 7515 §7.1).
    private static func nonce(in request: HTTPRequest) -> String? {
        guard let name = HTTPField.Name("DPoP"), let proof = request.headerFields[name] else { return nil }
        let parts = proof.split(separator: ".")
        guard parts.count == 3 else { return nil }
        var text = parts[1].replacing("-", with: "+").replacing("_", with: "/")
        while text.utf8.count % 4 != 0 { text += "=" }
        guard let data = Data(base64Encoded: String(text)) else { return nil }
        let claims = String(decoding: data, as: UTF8.self)
        guard let start = claims.firstRange(of: #""nonce":""#)?.upperBound else { return nil }
        return String(claims[start...].prefix { $0 != "\"" })
    }
}
