import FoundationEssentials
import OAuthClient

/// Auth.js, `packages/adapter-pg/schema.sql`. The vault's user id is the `id` in `users`.
struct AuthJSEncoder: ShapeEncoder {
    var opening: String { SQLText.opening }
    var closing: String { SQLText.closing }

    func refusal(of login: ExportedLogin) -> ExportRefusal? {
        guard login.subject != nil else { return login.dpopKey == nil ? .noSubject : .keyBound }
        return login.sqlRefusal((login.provider, 255), (login.subject, 255))
    }

    func rowName(of login: ExportedLogin) -> [String] { [login.provider, login.subject ?? ""] }

    func text(of login: ExportedLogin) -> String {
        let (provider, account) = (SQLText.quote(login.provider), SQLText.quote(login.subject ?? ""))
        let values = [
            SQLText.quote(login.userId), login.idToken == nil ? "'oauth'" : "'oidc'", provider, account,
            SQLText.quote(login.refreshToken?.reveal()), SQLText.quote(login.accessToken?.reveal()),
            login.expiresAt.flatMap(Self.seconds).map { String($0) } ?? "NULL",
            SQLText.quote(login.idToken?.reveal()), SQLText.quote(login.scope?.description),
            SQLText.quote(login.tokenType.rawValue),
        ]
        return """
            DELETE FROM accounts WHERE provider = \(provider) AND "providerAccountId" = \(account);
            INSERT INTO accounts ("userId", type, provider, "providerAccountId", refresh_token, access_token, expires_at, \
            id_token, scope, token_type) VALUES (\(values.joined(separator: ", ")));

            """
    }

    /// Rounded down to the column's whole seconds, so that a token does not seem to last longer than it does.
    private static func seconds(_ date: Date) -> Int64? { Int64(exactly: date.timeIntervalSince1970.rounded(.down)) }
}
