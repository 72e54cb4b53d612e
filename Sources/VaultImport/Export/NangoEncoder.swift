import FoundationEssentials
import OAuthClient

/// Bodies of `POST /connections`, which creates or replaces a connection: Nango, `docs/spec.yaml`.
struct NangoEncoder: ShapeEncoder {
    func refusal(of login: ExportedLogin) -> ExportRefusal? {
        if login.dpopKey != nil { return .keyBound }
        return login.accessToken == nil ? .noAccessToken : nil
    }

    func rowName(of login: ExportedLogin) -> [String] { [login.provider, login.userId] }

    func text(of login: ExportedLogin) -> String {
        var credentials = JSONLine()
        credentials.add("type", "OAUTH2")
        if let token = login.accessToken { credentials.add("access_token", token.reveal()) }
        if let token = login.refreshToken { credentials.add("refresh_token", token.reveal()) }
        if let moment = login.expiresAt.flatMap(\.rfc3339) {
            credentials.add("expires_at", moment)
        } else {
            credentials.add("no_expiration", true)
        }
        var line = JSONLine()
        line.add("provider_config_key", login.provider)
        line.add("connection_id", login.userId)
        line.add("credentials", credentials)
        return line.text + "\n"
    }
}
