/// In what form logins leave a vault: that of a system which is to use them.
public enum ExportShape: String, Hashable, Sendable, CaseIterable {
    /// JSON Lines with the members that TokenVault itself names: everything there is, DPoP keys included.
    case canonical
    /// SQL for django-allauth's `socialaccount` tables.
    case allauth
    /// SQL for the `accounts` of Auth.js, as its adapter for PostgreSQL names them.
    case authJS = "authjs"
    /// SQL for `oauth2_authorized_client` of Spring Security.
    case springSecurity = "spring"
    /// JSON Lines: bodies of Nango's `POST /connections`.
    case nango

    /// Stable: for commands and the audit trail.
    public var name: String { rawValue }

    var encoder: any ShapeEncoder {
        switch self {
        case .canonical: CanonicalEncoder()
        case .allauth: AllauthEncoder()
        case .authJS: AuthJSEncoder()
        case .springSecurity: SpringEncoder()
        case .nango: NangoEncoder()
        }
    }
}

/// Writes logins in one form.
protocol ShapeEncoder: Sendable {
    /// Before the first login, and behind the last one.
    var opening: String { get }
    var closing: String { get }

    func refusal(of login: ExportedLogin) -> ExportRefusal?

    /// What names the row there: two logins cannot have the same. Empty where there is room for all.
    func rowName(of login: ExportedLogin) -> [String]

    func text(of login: ExportedLogin) -> String
}

extension ShapeEncoder {
    var opening: String { "" }
    var closing: String { "" }
}
