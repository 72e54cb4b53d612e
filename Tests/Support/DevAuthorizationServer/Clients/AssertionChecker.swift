import Synchronization

/// Checks assertions (RFC 7523 §3): those of `private_key_jwt` clients, and those that vouch for users.
final class AssertionChecker: Sendable {
    static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    private let clock: ServerClock
    private let leeway: Duration
    private let longestLifetime: Duration
    /// `jti` values that may not come again, with the time when they may be forgotten.
    private let seen = Mutex<[String: Moment]>([:])

    init(configuration: AuthorizationServerConfiguration, clock: ServerClock) {
        self.clock = clock
        leeway = configuration.proofLeeway
        longestLifetime = configuration.longestAssertionLifetime
    }

    /// The identifier counts as used from here on, whatever becomes of the request.
    func check(
        _ assertion: CompactJWS, of client: String, key: RegisteredKey, audiences: [String]
    ) throws(OAuthError) {
        try checkSignature(assertion, key: key, types: ["jwt", "client-authentication+jwt"])
        let claims = assertion.claims
        guard claims["iss"]?.string == client, claims["sub"]?.string == client else {
            throw Self.refused("wrong assertion issuer or subject")
        }
        guard Self.names(in: claims["aud"]).contains(where: audiences.contains) else {
            throw Self.refused("wrong assertion audience")
        }
        let expiry = try checkTimes(claims)
        guard let identifier = claims["jti"]?.string, (1...512).contains(identifier.utf8.count) else {
            throw Self.refused("no assertion identifier")
        }
        try use(client + "/" + identifier, until: expiry)
    }

    /// The user of a trusted issuer's token. Each works once; a faulty one is `invalid_grant` (§3.1).
    func subject(
        of token: CompactJWS, issuers: [String: RegisteredKey], audiences: [String]
    ) throws(OAuthError) -> String {
        do throws(OAuthError) {
            let claims = token.claims
            guard let issuer = claims["iss"]?.string, let key = issuers[issuer] else {
                throw Self.refused("unknown issuer")
            }
            try checkSignature(token, key: key, types: ["jwt"])
            guard Self.names(in: claims["aud"]).contains(where: audiences.contains) else {
                throw Self.refused("wrong audience")
            }
            guard let subject = claims["sub"]?.string, (1...512).contains(subject.utf8.count) else {
                throw Self.refused("no subject")
            }
            let expiry = try checkTimes(claims)
            if let identifier = claims["jti"]?.string { try use(issuer + "/" + identifier, until: expiry) }
            return subject
        } catch {
            throw .invalidGrant("the token is invalid: \(error.reason)", reason: error.reason)
        }
    }

    private func checkSignature(_ token: CompactJWS, key: RegisteredKey, types: [String]) throws(OAuthError) {
        guard token.header["alg"]?.string == key.algorithm, token.header["crit"] == nil,
            types.contains(token.header["typ"]?.string?.lowercased() ?? "jwt")
        else { throw Self.refused("wrong assertion header") }
        if let named = token.header["kid"], let known = key.identifier, named.string != known {
            throw Self.refused("unknown assertion key")
        }
        guard key.key.isValid(token.signature, over: token.signingInput) else {
            throw Self.refused("wrong assertion signature")
        }
    }

    private func checkTimes(_ claims: [String: JSONValue]) throws(OAuthError) -> Moment {
        let now = Double(clock.wall.milliseconds) / 1000
        let leeway = Double(leeway.inMilliseconds) / 1000
        guard let expiry = claims["exp"]?.numericDate else { throw Self.refused("no assertion expiry") }
        guard expiry > now else { throw Self.refused("expired assertion") }
        guard expiry <= now + Double(longestLifetime.inMilliseconds) / 1000 + leeway else {
            throw Self.refused("assertion for too long")
        }
        for name in ["iat", "nbf"] {
            guard let claim = claims[name] else { continue }
            guard let time = claim.numericDate, time <= now + leeway else {
                throw Self.refused("assertion of the future")
            }
        }
        return Moment(milliseconds: Int64((expiry * 1000).rounded(.up)))
    }

    private func use(_ identifier: String, until expiry: Moment) throws(OAuthError) {
        let now = clock.wall
        let isFresh = seen.withLock { seen in
            if seen.count > 4096 { seen = seen.filter { $0.value > now } }
            return seen.updateValue(expiry, forKey: identifier).map { $0 <= now } ?? true
        }
        guard isFresh else { throw Self.refused("replayed assertion") }
    }

    private static func names(in audience: JSONValue?) -> [String] {
        switch audience {
        case .string(let name): [name]
        case .array(let names): names.compactMap(\.string)
        default: []
        }
    }

    private static func refused(_ reason: String) -> OAuthError {
        .invalidClient("the client assertion is invalid: \(reason)", reason: reason)
    }
}
