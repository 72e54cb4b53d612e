import FoundationEssentials
import OAuthClient

/// The unified cache of the MSAL libraries: `msal/token_cache.py` (1.39). Its keys are ignored, because the libraries
/// search by the entries' own members.
struct MSALCache: Sendable {
    /// An access or a refresh token of the cache, in the order of the document.
    struct Token: Sendable {
        /// The number of the token, from 1.
        let row: Int
        let isRefreshToken: Bool
        let object: JSONObject?

        subscript(name: String) -> String? { object.flatMap { MSALCache.text($0[name]) } }

        var group: Group? {
            self["home_account_id"].map {
                Group(account: $0, environment: self["environment"] ?? "", client: self["client_id"] ?? "")
            }
        }

        var moment: Double { self[isRefreshToken ? "last_modification_time" : "expires_on"].flatMap(Double.init) ?? 0 }
    }

    /// Tokens that belong together: refresh tokens apply to all tenants.
    struct Group: Hashable, Sendable {
        let account: String
        let environment: String
        let client: String
    }

    private(set) var tokens: [Token] = []
    private(set) var accounts: [String: JSONObject] = [:]
    private(set) var idTokens: [Group: String] = [:]
    let detection: StoreDetection

    static let sections: Set<String> = ["AccessToken", "RefreshToken", "IdToken", "Account", "AppMetadata", "atext"]

    init(_ stream: ByteStream, _ plan: ImportPlan) throws(ImportError) {
        let entries = JSONEntries(stream, plan.limits)
        var found: Set<String> = []
        var tokens: [Token] = []
        var accounts: [String: JSONObject] = [:]
        var idTokens: [Group: String] = [:]
        while let entry = try entries.next() {
            found.insert(entry.section)
            switch entry.section {
            case "AccessToken", "RefreshToken":
                tokens.append(
                    Token(
                        row: tokens.count + 1, isRefreshToken: entry.section == "RefreshToken", object: entry.object))
            case "Account":
                guard let object = entry.object, let id = Self.text(object["home_account_id"]) else { continue }
                accounts[id] = object
            case "IdToken":
                let token = Token(row: 0, isRefreshToken: false, object: entry.object)
                if let group = token.group, let secret = token["secret"] { idTokens[group] = secret }
            default: continue
            }
        }
        guard !found.isDisjoint(with: Self.sections) else {
            throw ImportError(
                .unknownStore, "the source is one JSON document, and not the cache of an MSAL library",
                hint: "of other documents make one line for each login: docs/import.md")
        }
        (self.tokens, self.accounts, self.idTokens) = (tokens, accounts, idTokens)
        detection = StoreDetection(
            kind: .msal, format: .json, table: nil,
            evidence: [
                "the document has the sections \(found.intersection(Self.sections).sorted().joined(separator: ", "))"
            ],
            unreadColumns: [],
            // Each account has exactly one login, made from all its tokens.
            accounts: .never)
    }

    static func text(_ value: JSONValue?) -> String? {
        switch value {
        case .string(let text)?: text.isEmpty ? nil : text
        case .number(let text)?: text
        default: nil
        }
    }
}

/// The rows of a cache: one for each access and each refresh token.
struct MSALRows {
    private let cache: MSALCache
    private let plan: ImportPlan
    /// The token that represents its group, by row.
    private var leaders: [MSALCache.Group: Int] = [:]
    /// The access token that belongs to the leader.
    private var companions: [MSALCache.Group: Int] = [:]
    /// Other access tokens, by group.
    private var others: [MSALCache.Group: [Int]] = [:]

    init(_ cache: MSALCache, _ plan: ImportPlan) {
        self.cache = cache
        self.plan = plan
        for (index, token) in cache.tokens.enumerated() where token.isRefreshToken {
            guard let group = token.group, token["secret"] != nil else { continue }
            if let known = leaders[group], cache.tokens[known].moment > token.moment { continue }
            leaders[group] = index
        }
        for (index, token) in cache.tokens.enumerated() where Self.isUsable(token) {
            guard let group = token.group else { continue }
            guard let known = companions[group] else {
                companions[group] = index
                continue
            }
            let isNewer = token.moment > cache.tokens[known].moment
            others[group, default: []].append(isNewer ? known : index)
            if isNewer { companions[group] = index }
        }
        for (group, index) in companions where leaders[group] == nil { leaders[group] = index }
    }

    /// A token that is bound to a key, or that represents more than its scopes, does not belong to a login.
    private static func isUsable(_ token: MSALCache.Token) -> Bool {
        !token.isRefreshToken && token["secret"] != nil && token["key_id"] == nil && token["ext_cache_key"] == nil
    }

    var count: Int { cache.tokens.count }

    func row(_ index: Int) -> SourceRow {
        let token = cache.tokens[index]
        let place = Self.place(token)
        guard token.object != nil else { return .reject(SourceReject(place, .malformedValue)) }
        guard token["secret"] != nil else { return .reject(SourceReject(place, .noToken)) }
        guard let group = token.group else { return .reject(SourceReject(place, .clientCredentials)) }
        if !token.isRefreshToken, !Self.isUsable(token) { return .reject(SourceReject(place, .keyMissing)) }
        guard let leader = leaders[group], leader != index else { return login(token, group, place) }
        if token.isRefreshToken { return .reject(SourceReject(place, .superseded)) }
        return .part(place, of: Self.place(cache.tokens[leader]))
    }

    private static func place(_ token: MSALCache.Token) -> SourcePlace {
        SourcePlace(row: token.row, table: token.isRefreshToken ? "RefreshToken" : "AccessToken")
    }

    private func login(_ token: MSALCache.Token, _ group: MSALCache.Group, _ place: SourcePlace) -> SourceRow {
        // An account has one refresh token per client, whatever the id tokens say.
        let key = "\(group.account)/\(group.client)"
        var draft = LoginDraft(SourcePlace(row: place.row, table: place.table, key: key))
        guard let user = user(group) else {
            return .reject(SourceReject(place, cache.accounts[group.account] == nil ? .ownerMissing : .noUser))
        }
        guard user.utf8.count <= 1_024 else { return .reject(SourceReject(place, .malformedUser)) }
        guard !group.environment.isEmpty else { return .reject(SourceReject(place, .noProvider)) }
        guard let client = try? ClientID(group.client) else { return .reject(SourceReject(place, .malformedClient)) }
        draft.userKey = user
        draft.provider = group.environment
        draft.clientID = client
        if token.isRefreshToken {
            guard let refresh = token["secret"].flatMap({ try? RefreshToken($0) }) else {
                return .reject(SourceReject(place, .malformedRefreshToken))
            }
            draft.refreshToken = refresh
            if token["family_id"] != nil { draft.warn(.familyToken) }
        }
        addAccessToken(group, &draft)
        guard draft.accessToken != nil || draft.refreshToken != nil else {
            return .reject(SourceReject(place, .malformedAccessToken))
        }
        if draft.obtainedAt == nil, token.isRefreshToken { draft.obtainedAt = date(token["last_modification_time"]) }
        addNames(token, group, &draft)
        return .login(draft.login)
    }

    private func user(_ group: MSALCache.Group) -> String? {
        switch plan.userKey {
        case .primaryKey: group.account
        case .email, .username: MSALCache.text(cache.accounts[group.account]?["username"])
        case .column(let name): MSALCache.text(cache.accounts[group.account]?[name])
        }
    }

    private func addAccessToken(_ group: MSALCache.Group, _ draft: inout LoginDraft) {
        guard let index = companions[group] else { return }
        let token = cache.tokens[index]
        draft.accessToken = token["secret"].flatMap { try? AccessToken($0) }
        if draft.accessToken == nil { draft.warn(.accessTokenDropped) }
        draft.tokenType = token["token_type"].map { TokenType($0) }
        draft.expiresAt = date(token["expires_on"])
        if draft.expiresAt == nil, token["expires_on"] != nil { draft.warn(.expiryUnreadable) }
        draft.obtainedAt = date(token["cached_at"])
        draft.scope = token["target"].flatMap { try? Scope($0) }
        draft.attributes["realm"] = token["realm"]
        draft.resourceTokens = (others[group] ?? []).sorted().compactMap { index in
            let token = cache.tokens[index]
            guard let secret = token["secret"].flatMap({ try? AccessToken($0) }) else { return nil }
            return SourceResourceToken(
                target: token["target"] ?? "", accessToken: secret, expiresAt: date(token["expires_on"]))
        }
    }

    private func addNames(_ token: MSALCache.Token, _ group: MSALCache.Group, _ draft: inout LoginDraft) {
        draft.attributes["home_account_id"] = group.account
        if draft.scope == nil { draft.scope = token["target"].flatMap { try? Scope($0) } }
        guard let text = cache.idTokens[group] else { return }
        draft.subject = IDTokenSubject.of(text)
        draft.isSubjectOfIDToken = draft.subject != nil
        draft.idToken = draft.subject == nil ? nil : try? IDToken(text)
        if draft.idToken == nil { draft.warn(.idTokenDropped) }
    }

    /// All its numbers are texts.
    private func date(_ text: String?) -> Date? {
        guard let text, case .at(let date) = Moment(.text(text), .unknown) else { return nil }
        return date
    }
}

/// The rows of a cache, in order.
final class MSALCursor {
    private let rows: MSALRows
    private var index = 0

    init(_ cache: MSALCache, _ plan: ImportPlan) { rows = MSALRows(cache, plan) }

    var progress: Double { rows.count > 0 ? Double(index) / Double(rows.count) : 1 }

    func next() -> SourceRow? {
        guard index < rows.count else { return nil }
        index += 1
        return rows.row(index - 1)
    }
}
