import FoundationEssentials
import OAuthClient

extension StoreDescription {
    /// The members of the canonical form, which every other source can be turned into.
    static let canonicalMembers = [
        "user", "provider", "access_token", "refresh_token", "token_type", "scope", "expires_at", "expires_in",
        "obtained_at", "refresh_expires_at", "id_token", "subject", "label", "client_id", "dpop_jwk", "attributes",
        "id",
        "error",
    ]

    /// - Parameter columns: the source's column for each member that is named otherwise.
    static func canonical(_ columns: [String: String]) -> StoreDescription {
        let names = Dictionary(
            uniqueKeysWithValues: canonicalMembers.map { ($0, ColumnIndex.folded(columns[$0] ?? $0)) })
        func path(_ member: String) -> [Path] { [Path(names[member] ?? member)] }
        let known = Set(names.values)
        let user = names["user"] ?? "user"
        let provider = names["provider"] ?? "provider"
        var description = StoreDescription(
            kind: .canonical, needs: [user, provider], rowKey: path("id"),
            user: UserPaths(primaryKey: path("user"), email: path("user"), username: path("user")),
            provider: path("provider"), accessToken: path("access_token"), refreshToken: path("refresh_token"))
        description.needsOne = [names["access_token"] ?? "", names["refresh_token"] ?? ""]
        description.subject = path("subject")
        description.clientID = path("client_id")
        description.tokenType = path("token_type")
        description.expiresAt = path("expires_at")
        description.refreshExpiresAt = path("refresh_expires_at")
        description.scope = path("scope")
        description.idToken = path("id_token")
        description.dpopKey = path("dpop_jwk")
        description.label = path("label")
        description.obtainedAt = path("obtained_at")
        let lifetime = path("expires_in")
        let error = path("error")
        let attributes = path("attributes")
        description.prepare = { (row, context) throws(RowStop) in
            if let error = row[error], error.text != nil { throw .reject(.errorAnswer) }
            if context.hasUnknownMembers(row.main, known: known), context.plan.isStrict {
                throw .reject(.unknownMember)
            }
            if let value = row[attributes], case .object = value {
            } else if row[attributes]?.text != nil {
                guard row[attributes]?.jsonObject != nil else { throw .reject(.malformedValue) }
            }
        }
        description.finish = { draft, row, _ in
            draft.readLifetime(row[lifetime])
            draft.readAttributes(row[attributes]?.jsonObject)
        }
        return description
    }
}

extension LoginDraft {
    /// `expires_in` counts from the moment at which the tokens came. Without it nothing is known: the time of reading is
    /// not that moment.
    mutating func readLifetime(_ value: RawValue?) {
        guard expiresAt == nil, let value else { return }
        guard let lifetime = value.integer, lifetime >= 0, lifetime <= 10 * 365 * 86_400 else {
            if value.text != nil { warn(.expiryUnreadable) }
            return
        }
        guard let obtainedAt else { return warn(.lifetimeWithoutStart) }
        expiresAt = obtainedAt.addingTimeInterval(Double(lifetime))
    }

    /// Texts, numbers and truth values; anything else has no place beside a login.
    mutating func readAttributes(_ object: JSONObject?) {
        guard let object else { return }
        for name in object.names.prefix(64) where name.utf8.count <= 128 {
            switch object[name] {
            case .string(let text)? where text.utf8.count <= 1_024: attributes[name] = text
            case .number(let text)?: attributes[name] = text
            case .bool(let value)?: attributes[name] = value ? "true" : "false"
            default: continue
            }
        }
    }
}
