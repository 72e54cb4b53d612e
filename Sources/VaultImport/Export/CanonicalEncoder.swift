import Crypto
import FoundationEssentials
import OAuthClient
import TokenVault

/// The members of the canonical form, which ``StoreKind/canonical`` reads.
struct CanonicalEncoder: ShapeEncoder {
    func refusal(of login: ExportedLogin) -> ExportRefusal? { nil }

    func rowName(of login: ExportedLogin) -> [String] { [] }

    func text(of login: ExportedLogin) -> String {
        var line = JSONLine()
        line.add("id", login.id.description)
        line.add("user", login.userId)
        line.add("provider", login.provider)
        if let client = login.clientID { line.add("client_id", client.rawValue) }
        if let subject = login.subject { line.add("subject", subject) }
        if let label = login.label { line.add("label", label) }
        if let token = login.accessToken { line.add("access_token", token.reveal()) }
        line.add("token_type", login.tokenType.rawValue)
        if let moment = login.expiresAt.flatMap(\.rfc3339) { line.add("expires_at", moment) }
        if let token = login.refreshToken { line.add("refresh_token", token.reveal()) }
        if let moment = login.refreshExpiresAt.flatMap(\.rfc3339) { line.add("refresh_expires_at", moment) }
        if let scope = login.scope, !scope.isEmpty { line.add("scope", scope.description) }
        if let resource = login.resource { line.add("resource", resource) }
        if let token = login.idToken { line.add("id_token", token.reveal()) }
        if let key = login.dpopKey { line.add("dpop_jwk", key.privateJWK) }
        if let moment = login.obtainedAt.flatMap(\.rfc3339) { line.add("obtained_at", moment) }
        if !login.attributes.isEmpty { line.add("attributes", login.attributes) }
        return line.text + "\n"
    }
}

extension DPoPKey {
    /// RFC 7518 §6.2.2.
    fileprivate var privateJWK: JSONLine {
        let point = Array(signingKey.publicKey.rawRepresentation)
        var key = JSONLine()
        key.add("kty", "EC")
        key.add("crv", "P-256")
        key.add("x", Base64URL.encode(point.prefix(32)))
        key.add("y", Base64URL.encode(point.suffix(32)))
        key.add("d", Base64URL.encode(revealRawRepresentation()))
        return key
    }
}

extension Date {
    /// Nil if it is out of range.
    private var milliseconds: Int64? { Int64(exactly: (timeIntervalSince1970 * 1_000).rounded()) }

    /// RFC 3339, to the millisecond; nil if it is not a date of our calendar.
    var rfc3339: String? { milliseconds.flatMap { CivilTime.text(milliseconds: $0) }.map { $0 + "Z" } }

    /// The SQL format, in UTC and without a zone.
    var sqlTimestamp: String? { milliseconds.flatMap { CivilTime.text(milliseconds: $0, separator: " ") } }
}
