import FoundationEssentials
import OAuthClient

/// Spring Security's client: `oauth2-client-schema.sql`. The provider's name is the registration's id, and the user id
/// is the principal's name.
struct SpringEncoder: ShapeEncoder {
    private static let table = "oauth2_authorized_client"

    var opening: String { SQLText.opening }
    var closing: String { SQLText.closing }

    func refusal(of login: ExportedLogin) -> ExportRefusal? {
        let scope = login.scope?.description
        if let refusal = login.sqlRefusal((login.provider, 100), (login.userId, 200), (scope, 1_000)) { return refusal }
        guard let token = login.accessToken else { return .noAccessToken }
        // In a text that becomes bytes, PostgreSQL interprets a backslash as an escape.
        let hasEscape = [token.reveal(), login.refreshToken?.reveal() ?? ""].contains { $0.utf8.contains(0x5C) }
        return hasEscape ? .unrepresentable : nil
    }

    func rowName(of login: ExportedLogin) -> [String] { [login.provider, login.userId] }

    func text(of login: ExportedLogin) -> String {
        let (registration, principal) = (SQLText.quote(login.provider), SQLText.quote(login.userId))
        let (issued, expires) = Self.lifetime(of: login)
        let values = [
            registration, principal, "'Bearer'", SQLText.quote(login.accessToken?.reveal()),
            SQLText.quote(issued.sqlTimestamp), SQLText.quote(expires.sqlTimestamp),
            SQLText.quote(login.scope?.tokens.joined(separator: ",")), SQLText.quote(login.refreshToken?.reveal()),
            login.refreshToken == nil ? "NULL" : SQLText.quote(issued.sqlTimestamp),
        ]
        return """
            DELETE FROM \(Self.table) WHERE client_registration_id = \(registration) AND principal_name = \(principal);
            INSERT INTO \(Self.table) (client_registration_id, principal_name, access_token_type, access_token_value, \
            access_token_issued_at, access_token_expires_at, access_token_scopes, refresh_token_value, \
            refresh_token_issued_at) VALUES (\(values.joined(separator: ", ")));

            """
    }

    /// Both are required, and a token must not expire before it was issued. An unknown expiry is stored as one second
    /// later, as Spring does.
    private static func lifetime(of login: ExportedLogin) -> (issued: Date, expires: Date) {
        guard let expires = login.expiresAt else { return (login.knownSince, login.knownSince.addingTimeInterval(1)) }
        return (min(login.knownSince, expires.addingTimeInterval(-2)), expires)
    }
}
