package import FoundationEssentials

/// Checks the id token of a log-in (OpenID Connect Core §3.1.3.7). Numbers refer to the items there.
package struct IDTokenCheck: Sendable {
    /// The tolerated difference between the clocks of provider and client.
    static let leeway: TimeInterval = 60

    /// 2: the issuers that may have issued it; empty if unknown. `{name}` is replaced by a claim of the token itself,
    /// for issuers that name the user's organisation.
    package var issuers: [String]
    package var clientID: ClientID
    /// 11: the nonce that the log-in sent.
    package var nonce: IDTokenNonce?
    /// 13: the maximum time since the user authenticated.
    package var maximumAge: Duration?
    /// 8: keys of symmetric signatures.
    package var secrets: [ClientSecret]
    /// The provider's keys; nil where they are unavailable. Then item 6 applies: the token came directly from the token
    /// endpoint over TLS, which replaces the signature.
    package var keys: JSONWebKeySet?
    /// By the provider's clock, as far as its offset is known.
    package var now: Date
    /// 7: the accepted algorithms; empty for all supported ones.
    package var algorithms: [String] = []

    package init(
        issuers: [String], clientID: ClientID, nonce: IDTokenNonce?, maximumAge: Duration?,
        secrets: [ClientSecret] = [],
        keys: JSONWebKeySet? = nil, now: Date
    ) {
        self.issuers = issuers
        self.clientID = clientID
        self.nonce = nonce
        self.maximumAge = maximumAge
        self.secrets = secrets
        self.keys = keys
        self.now = now
    }

    /// The claims of a token that passes every check.
    package func claims(of token: IDToken) throws(IDTokenError) -> IDTokenClaims {
        let parts = token.reveal().split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64URL.decode(parts[0]).flatMap({ try? JSONObject(document: $0) }),
            let payload = Base64URL.decode(parts[1]).flatMap({ try? JSONObject(document: $0) }),
            let signature = Base64URL.decode(parts[2])
        else { throw .unreadable }
        let input = Array("\(parts[0]).\(parts[1])".utf8)
        let isSigned = try checkSignature(signature, of: input, header)
        guard case .string(let subject)? = payload["sub"], (1...1_024).contains(subject.utf8.count) else {
            throw IDTokenError(.missingClaim, claim: "sub")
        }
        guard case .string(let issuer)? = payload["iss"] else { throw IDTokenError(.missingClaim, claim: "iss") }
        guard issuers.isEmpty || issuers.contains(where: { Self.filled($0, payload) == issuer }) else {
            throw IDTokenError(.issuer)
        }
        try checkAudience(payload)
        try checkTimes(payload)
        if let nonce {
            guard case .string(let named)? = payload["nonce"] else { throw IDTokenError(.missingClaim, claim: "nonce") }
            guard named == nonce.reveal() else { throw IDTokenError(.nonce) }
        }
        return IDTokenClaims(payload, subject: subject, issuer: issuer, isSignatureChecked: isSigned)
    }

    /// 6 to 8. Returns whether a signature was checked.
    private func checkSignature(
        _ signature: [UInt8], of input: [UInt8], _ header: JSONObject
    ) throws(IDTokenError) -> Bool {
        guard case .string(let name)? = header["alg"] else { throw .unreadable }
        // No extension is supported here (RFC 7515 §4.1.11).
        guard header["crit"] == nil else { throw IDTokenError(.unsupportedAlgorithm) }
        guard name.lowercased() != "none", !signature.isEmpty else { throw IDTokenError(.unsigned) }
        guard algorithms.isEmpty || algorithms.contains(name) else { throw IDTokenError(.unsupportedAlgorithm) }
        guard let algorithm = JWSAlgorithm(rawValue: name) else {
            guard keys == nil else { throw IDTokenError(.unsupportedAlgorithm) }
            return false
        }
        guard !algorithm.isSymmetric else {
            let isValid = secrets.contains { algorithm.isValid(signature, of: input, secret: $0) }
            guard isValid else { throw IDTokenError(.signature) }
            return true
        }
        guard let keys else { return false }
        var keyID: String?
        if case .string(let text)? = header["kid"] { keyID = text }
        let candidates = keys.keys(named: keyID, for: algorithm)
        guard !candidates.isEmpty else { throw IDTokenError(.unknownKey) }
        guard candidates.contains(where: { $0.isValid(signature, of: input, by: algorithm) }) else {
            throw IDTokenError(.signature)
        }
        return true
    }

    /// 3 to 5.
    private func checkAudience(_ payload: JSONObject) throws(IDTokenError) {
        let audiences: [String]
        switch payload["aud"] {
        case .string(let text)?: audiences = [text]
        case .array(let elements)?:
            audiences = elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
            guard audiences.count == elements.count else { throw IDTokenError(.audience) }
        default: throw IDTokenError(.missingClaim, claim: "aud")
        }
        guard audiences.contains(clientID.rawValue) else { throw IDTokenError(.audience) }
        switch payload["azp"] {
        // It came directly from the token endpoint, for our code: other audiences do no harm (OpenID Connect Core with
        // errata 2, §3.1.3.7).
        case nil, .null?: break
        case .string(let party)?: guard party == clientID.rawValue else { throw IDTokenError(.audience) }
        default: throw IDTokenError(.audience)
        }
    }

    /// 9, 10 and 13.
    private func checkTimes(_ payload: JSONObject) throws(IDTokenError) {
        let now = now.timeIntervalSince1970
        guard now < (try Self.seconds("exp", payload)) + Self.leeway else { throw IDTokenError(.expired) }
        guard try Self.seconds("iat", payload) <= now + Self.leeway else { throw IDTokenError(.issuedInFuture) }
        guard let maximumAge else { return }
        let authenticated = try Self.seconds("auth_time", payload)
        guard now - authenticated <= maximumAge / .seconds(1) + Self.leeway else {
            throw IDTokenError(.authenticatedTooLongAgo)
        }
    }

    private static func seconds(_ claim: String, _ payload: JSONObject) throws(IDTokenError) -> TimeInterval {
        guard case .number(let text)? = payload[claim], let seconds = Double(text), (0...1e11).contains(seconds) else {
            throw IDTokenError(.missingClaim, claim: claim)
        }
        return seconds
    }

    /// An issuer with the token's own claims filled in; nil if it refers to a claim that the token lacks.
    private static func filled(_ issuer: String, _ payload: JSONObject) -> String? {
        guard let start = issuer.firstIndex(of: "{") else { return issuer }
        guard let end = issuer[start...].firstIndex(of: "}"),
            case .string(let value)? = payload[String(issuer[issuer.index(after: start)..<end])],
            !value.isEmpty, value.utf8.allSatisfy({ Self.isPlain($0) })
        else { return nil }
        var filled = issuer
        filled.replaceSubrange(start...end, with: value)
        return filled
    }

    /// A claim fills one segment of the issuer's path and nothing else.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
