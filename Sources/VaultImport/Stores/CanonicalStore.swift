import FoundationEssentials
import OAuthClient

extension StoreDescription {
    /// The members of the canonical form, which every other source can be converted to.
    static let canonicalMembers = [
        "user", "provider", "access_token", "refresh_token", "token_type", "scope", "expires_at", "expires_in",
        "obtained_at", "refresh_expires_at", "id_token", "subject", "label", "client_id", "dpop_jwk", "attributes",
        "resource",
        "id", "error", "grant_type",
    ]

    /// - Parameter plan: Maps columns to members, and defines the user id.
    static func canonical(_ plan: ImportPlan) -> StoreDescription {
        let columns = MappedColumns(plan.columns)
        func paths(_ member: String) -> [Path] { columns.paths(member) }
        let user = UserPaths(primaryKey: paths("user"), email: ["email"], username: ["username"])
        var description = StoreDescription(
            kind: .canonical, needs: [], rowKey: paths("id"), user: user, provider: paths("provider"),
            accessToken: paths("access_token"), refreshToken: paths("refresh_token"))
        let key = plan.userKey == .primaryKey ? [] : user.paths(for: plan.userKey).map(\.column)
        description.needsEach = [columns.names("user").union(key)]
        if plan.provider == nil { description.needsEach.append(columns.names("provider")) }
        description.needsOne = columns.names("access_token").union(columns.names("refresh_token"))
        description.subject = paths("subject")
        description.clientID = paths("client_id")
        description.tokenType = paths("token_type")
        description.expiresAt = paths("expires_at")
        description.refreshExpiresAt = paths("refresh_expires_at")
        description.scope = paths("scope")
        description.idToken = paths("id_token")
        description.dpopKey = paths("dpop_jwk")
        description.label = paths("label")
        description.obtainedAt = paths("obtained_at")
        let known = Set(canonicalMembers.flatMap { columns.names($0) }).union(key)
        description.otherColumns = known
        let lifetime = paths("expires_in")
        let error = paths("error")
        let grant = paths("grant_type")
        let attributes = paths("attributes")
        let resource = paths("resource")
        description.prepare = { (row, context) throws(RowStop) in
            if context.hasUnknownMembers(row.main, known: known), context.plan.isStrict {
                throw .reject(.unknownMember)
            }
            try columns.open(&row)
            if let error = row[error], error.text != nil { throw .reject(.errorAnswer) }
            if row[grant]?.text == "client_credentials" { throw .reject(.clientCredentials) }
            // A login that loses this would send its tokens anywhere.
            if let value = row[resource], !value.isEmptyDocument,
                (try? ResourceIdentifier(stored: value.text ?? "")) == nil
            {
                throw .reject(.malformedValue)
            }
            if let value = row[attributes], case .object = value {
            } else if row[attributes]?.text != nil {
                guard row[attributes]?.jsonObject != nil else { throw .reject(.malformedValue) }
            }
        }
        description.finish = { draft, row, _ in
            draft.readLifetime(row[lifetime])
            draft.readAttributes(row[attributes]?.jsonObject)
            draft.resource = row[resource]?.text
        }
        return description
    }
}

extension ImportPlan {
    /// The members of the canonical form, the keys of ``columns``.
    public static var members: [String] { StoreDescription.canonicalMembers }
}

/// The path of each member of the canonical form under a plan's map.
struct MappedColumns: Sendable {
    private let map: [String: String]
    private let documents: [Document]

    /// A document in a column, or a nested one.
    private struct Document: Sendable {
        let part: String
        let column: String
        let steps: [String]
    }

    init(_ map: [String: String]) {
        self.map = map
        let parts = Set(map.values.compactMap { Self.steps(of: $0)?.dropLast() }.map(Array.init))
        documents = parts.sorted { $0.lexicographicallyPrecedes($1) }.map { steps in
            Document(
                part: Self.part(steps[...]), column: ColumnIndex.folded(steps[0]), steps: Array(steps.dropFirst()))
        }
    }

    /// The steps of `TOKEN.access_token`; nil for the name of a column.
    private static func steps(of name: String) -> [String]? {
        let steps = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        return steps.count > 1 && steps.allSatisfy { !$0.isEmpty } ? steps : nil
    }

    /// No description uses such a part name.
    private static func part(_ steps: ArraySlice<String>) -> String { "{" + steps.joined(separator: ".") }

    /// A column with exactly that name has priority: the header of a CSV file may contain dots.
    func paths(_ member: String) -> [Path] {
        guard let name = map[member] else { return [Path(part: "", column: ColumnIndex.folded(member))] }
        let column = Path(part: "", column: ColumnIndex.folded(name))
        guard let steps = Self.steps(of: name) else { return [column] }
        return [column, Path(part: Self.part(steps.dropLast()), column: steps.last ?? "")]
    }

    /// The possible columns for a member; at least one must exist.
    func names(_ member: String) -> Set<String> {
        let name = map[member] ?? member
        return Set([name, Self.steps(of: name)?.first].compactMap { $0.map(ColumnIndex.folded) })
    }

    /// Opens the documents that the map refers to.
    func open(_ row: inout StoreRow) throws(RowStop) {
        for document in documents {
            guard let value = row[Path(part: "", column: document.column)] else { continue }
            if case .fault(let reason) = value { throw .reject(reason) }
            guard !value.isEmptyDocument else { continue }
            guard var object = value.jsonObject else { throw .reject(.malformedValue) }
            var isThere = true
            for step in document.steps where isThere {
                if let inner = object[step].map(RawValue.init)?.jsonObject { object = inner } else { isThere = false }
            }
            if isThere { row.add(document.part, object) }
        }
    }
}

extension LoginDraft {
    /// `expires_in` counts from the time when the tokens were issued. Without it the expiry is unknown: the time of
    /// reading does not help.
    mutating func readLifetime(_ value: RawValue?) {
        guard expiresAt == nil, let value else { return }
        guard let lifetime = value.integer, lifetime >= 0, lifetime <= 10 * 365 * 86_400 else {
            if value.text != nil { warn(.expiryUnreadable) }
            return
        }
        guard let obtainedAt else { return warn(.lifetimeWithoutStart) }
        expiresAt = obtainedAt.addingTimeInterval(Double(lifetime))
    }

    /// Keeps texts, numbers and booleans; other values cannot be stored with a login.
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
