import FoundationEssentials
import OAuthClient

/// django-allauth, `allauth/socialaccount/models.py` (65.21). The vault's user id is the primary key of Django's user,
/// and the app is the one with the client id, if it is in the database.
///
/// Existing accounts are unchanged; their tokens of this app are replaced.
struct AllauthEncoder: ShapeEncoder {
    private static let accounts = "socialaccount_socialaccount"
    private static let tokens = "socialaccount_socialtoken"
    private static let apps = "socialaccount_socialapp"

    var opening: String { SQLText.opening }
    var closing: String { SQLText.closing }

    func refusal(of login: ExportedLogin) -> ExportRefusal? {
        guard login.subject != nil else { return login.dpopKey == nil ? .noSubject : .keyBound }
        return login.sqlRefusal((login.provider, 200), (login.subject, 191))
    }

    func rowName(of login: ExportedLogin) -> [String] { [login.provider, login.subject ?? ""] }

    func text(of login: ExportedLogin) -> String {
        let (provider, uid) = (SQLText.quote(login.provider), SQLText.quote(login.subject ?? ""))
        let isAccount = "provider = \(provider) AND uid = \(uid)"
        let isApp = "client_id = \(SQLText.quote(login.clientID?.rawValue ?? ""))"
        let joined = SQLText.quote(login.obtainedAt.flatMap(Self.moment) ?? "1970-01-01 00:00:00+00:00")
        return """
            INSERT INTO \(Self.accounts) (user_id, provider, uid, last_login, date_joined, extra_data) \
            SELECT \(SQLText.quote(login.userId)), \(provider), \(uid), \(joined), \(joined), '{}' \
            WHERE NOT EXISTS (SELECT 1 FROM \(Self.accounts) WHERE \(isAccount));
            DELETE FROM \(Self.tokens) WHERE account_id IN (SELECT id FROM \(Self.accounts) WHERE \(isAccount)) \
            AND (app_id IS NULL OR app_id IN (SELECT id FROM \(Self.apps) WHERE \(isApp)));
            INSERT INTO \(Self.tokens) (token, token_secret, expires_at, account_id, app_id) \
            SELECT \(SQLText.quote(login.accessToken?.reveal() ?? "")), \
            \(SQLText.quote(login.refreshToken?.reveal() ?? "")), \
            \(SQLText.quote(login.expiresAt.flatMap(Self.moment))), id, \
            (SELECT MIN(id) FROM \(Self.apps) WHERE \(isApp)) FROM \(Self.accounts) WHERE \(isAccount);

            """
    }

    /// Django reads the zone, regardless of `TIME_ZONE`.
    private static func moment(_ date: Date) -> String? { date.sqlTimestamp.map { $0 + "+00:00" } }
}
