import FoundationEssentials
import OAuthClient

extension StoreDescription {
    /// python-social-auth: `social_django/models.py`, and `social_core/storage.py` for the meaning of the members.
    ///
    /// The library sends the access token as a refresh token if there is none. This reader does not.
    static let socialAuth: StoreDescription = {
        var description = StoreDescription(
            kind: .socialAuth, needs: ["provider", "uid", "userid", "extradata"],
            excludes: ["lastlogin", "datejoined", "token", "tokensecret"],
            links: [.user(["authuser", "usersuser", "accountsuser", "user", "users"], from: ["userid"])],
            user: UserPaths(primaryKey: ["userid"]), provider: ["provider"], accessToken: ["data.access_token"],
            refreshToken: ["data.refresh_token"])
        description.subject = ["uid"]
        description.tokenType = ["data.token_type"]
        description.scope = ["data.scope"]
        description.scopeSeparator = ","
        description.idToken = ["data.id_token"]
        description.obtainedAt = ["data.auth_time"]
        description.accountsInTables = .never
        description.prepare = { (row, _) throws(RowStop) in
            guard let value = row["extradata"], !value.isNull else { throw .reject(.noToken) }
            if case .fault(let reason) = value { throw .reject(reason) }
            guard let data = value.jsonObject else {
                if value.isEmptyDocument { throw .reject(.noToken) }
                throw .reject(.malformedValue)
            }
            if case .object? = data["access_token"] { throw .reject(.notOAuth2) }
            if case .string? = data["error"] { throw .reject(.errorAnswer) }
            row.add("data", data)
        }
        description.finish = { draft, row, _ in draft.readSocialExpiry(row) }
        return description
    }()
}

extension LoginDraft {
    /// The library treats numbers above this as instants, and smaller ones as lifetimes: two years.
    private static let firstMoment = 63_072_000

    /// In the library's order: `expires_on` is an instant, `expires_in` counts from `auth_time`, and `expires` is
    /// either.
    fileprivate mutating func readSocialExpiry(_ row: StoreRow) {
        let moment: Path = "data.expires_on"
        let lifetime: Path = "data.expires_in"
        let either: Path = "data.expires"
        if let value = row[moment], value.text != nil { return readMoment(value) }
        if let value = row[lifetime], value.text != nil { return readLifetime(value) }
        guard let value = row[either], value.text != nil else { return }
        guard let number = value.integer else { return warn(.expiryUnreadable) }
        if number > Self.firstMoment { readMoment(value) } else { readLifetime(value) }
    }

    private mutating func readMoment(_ value: RawValue) {
        switch Moment(value, .unknown) {
        case .at(let date), .assumed(let date): expiresAt = date
        case .none: break
        case .unreadable: warn(.expiryUnreadable)
        }
    }
}
