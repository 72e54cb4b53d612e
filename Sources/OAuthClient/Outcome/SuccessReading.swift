import FoundationEssentials

/// A 2xx reply without an error, member by member (RFC 6749 §5.1).
struct SuccessReading {
    private enum Token<Value> {
        case missing, unusable
        case usable(Value)
    }

    private let body: ReplyBody
    private let context: ClassificationContext
    private let rules: ReplyRules
    private var anomalies: Set<ReplyAnomaly> = []

    init(_ body: ReplyBody, _ context: ClassificationContext, _ rules: ReplyRules) {
        self.body = body
        self.context = context
        self.rules = rules
    }

    /// The new refresh token, if there is one that can be sent.
    var refreshToken: RefreshToken? { body[chainMember].text.flatMap { try? RefreshToken(received: $0) } }

    /// Its member has a value that cannot be sent back: the old token is spent anyway.
    private var hasUnusableRefreshToken: Bool { refreshToken == nil && !body[chainMember].isAbsent }

    /// The member with the token that is exchanged for the next one.
    private var chainMember: String { rules.chainIsAccessToken ? "access_token" : "refresh_token" }

    var hasAccessToken: Bool { !body["access_token"].isAbsent }

    mutating func outcome() -> TokenOutcome {
        // Two different refresh tokens: one of them continues the chain, but it is unknown which.
        if case .ambiguous = body[chainMember] { return .inDoubt(.unreadableBody) }
        guard let accessToken = body["access_token"].text.flatMap({ try? AccessToken($0) }) else {
            return partial(.unusableAccessToken) ?? .inDoubt(.unusableTokens)
        }
        guard let tokenType = tokenType() else {
            return partial(.wrongTokenType)
                ?? (hasUnusableRefreshToken ? .inDoubt(.unusableTokens) : .misconfigured(.wrongTokenType))
        }
        let idToken = idToken()
        let identity = idToken.flatMap(IDTokenIdentity.init)
        if let expected = context.expectedIdentity, let identity, !expected.accepts(identity) {
            return partial(.identityChanged) ?? .inDoubt(.identityChanged)
        }
        if idToken != nil && identity == nil { anomalies.insert(.unusableIDToken) }
        let refreshToken = refreshToken
        if hasUnusableRefreshToken { anomalies.insert(.unusableRefreshToken) }
        let lifetime = lifetime()
        let scope = scope()
        var tokens = IssuedTokens(
            accessToken: accessToken, tokenType: tokenType, expiresIn: lifetime ?? rules.assumedLifetime,
            refreshToken: refreshToken, refreshExpiresIn: refreshLifetime(), scope: scope,
            idToken: identity == nil ? nil : idToken, identity: identity, anomalies: anomalies)
        tokens.isLifetimeAssumed = lifetime == nil && rules.assumedLifetime != nil
        tokens.attributes = attributes()
        return .success(tokens)
    }

    /// Only the new refresh token: the old one is spent, whatever else is wrong with the reply.
    func partial(_ cause: PartialCause) -> TokenOutcome? {
        guard let refreshToken, refreshToken != context.sentRefreshToken else { return nil }
        return .partial(PartialTokens(refreshToken: refreshToken, refreshExpiresIn: refreshLifetime(), cause: cause))
    }

    private mutating func tokenType() -> TokenType? {
        let expected = context.expectedTokenType
        switch body["token_type"] {
        case .text(let text):
            let named = TokenType(text)
            let type = rules.tokenTypeAliases[named.rawValue] ?? named
            if type == expected { return type }
            return expected == .dpop && type == .bearer && rules.acceptsDowngrade ? type : nil
        case .absent:
            // Required by RFC 6749, but often missing. Only a plain token can be assumed.
            guard expected == .bearer || rules.acceptsDowngrade else { return nil }
            anomalies.insert(.missingTokenType)
            return .bearer
        default: return nil
        }
    }

    private mutating func idToken() -> IDToken? {
        let field = body["id_token"]
        if field.isAbsent { return nil }
        guard let token = field.text.flatMap({ try? IDToken($0) }) else {
            anomalies.insert(.unusableIDToken)
            return nil
        }
        return token
    }

    private mutating func scope() -> Scope? {
        switch body["scope"] {
        case .absent: return nil
        case .text(let text):
            if let scope = try? Scope(text, separator: rules.scopeSeparator.first ?? " ") { return scope }
        case .list(let tokens):
            if let scope = try? Scope(tokens: tokens) { return scope }
        default: break
        }
        anomalies.insert(.unusableScope)
        return nil
    }

    private mutating func lifetime() -> Duration? {
        let lifetime = ReplyLifetime(body, rules.lifetimes, startedAt: context.startedAt.timeIntervalSince1970)
        if let anomaly = lifetime.anomaly { anomalies.insert(anomaly) }
        return lifetime.duration
    }

    /// Values that are not text of a sensible length are skipped, never truncated.
    private func attributes() -> [String: String] {
        var attributes: [String: String] = [:]
        for name in rules.keptMembers {
            let text: String? =
                switch name.contains(".") ? body.fields(at: name).first ?? .absent : body[name] {
                case .text(let text), .number(let text): text
                case .flag(let flag): String(flag)
                default: nil
                }
            guard let text, text.utf8.count <= 2_048, !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
                continue
            }
            attributes[name] = text
        }
        // RFC 9396 §7: the granted details, which may be less or more precise than the requested ones.
        if let details = body.array(Self.authorizationDetails), details.utf8.count <= Self.longestDetails {
            attributes[Self.authorizationDetails] = details
        }
        return attributes
    }

    private static let authorizationDetails = "authorization_details"
    private static let longestDetails = 8_192

    private func refreshLifetime() -> Duration? {
        let startedAt = context.startedAt.timeIntervalSince1970
        if rules.chainIsAccessToken {
            return ReplyLifetime(body, rules.lifetimes, startedAt: startedAt).duration ?? rules.assumedLifetime
        }
        // The token ends by the clock that is over first.
        let told = LifetimeMember.Clock.allCases.compactMap { clock in
            let members = rules.refreshLifetimes.filter { $0.clock == clock }
            return ReplyLifetime(body, members, startedAt: startedAt).duration
        }.min()
        // Keycloak sends 0 for a token that does not expire.
        if told == .zero { return nil }
        return told ?? rules.assumedRefreshLifetime
    }
}
