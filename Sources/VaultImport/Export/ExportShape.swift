/// The format of an export: that of the system which will use the logins.
public enum ExportShape: String, Hashable, Sendable, CaseIterable {
    /// JSON Lines with TokenVault's own members: all data, including DPoP keys.
    case canonical
    /// SQL for django-allauth's `socialaccount` tables.
    case allauth
    /// SQL for the `accounts` of Auth.js, with the names of its adapter for PostgreSQL.
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

/// Writes logins in one format.
protocol ShapeEncoder: Sendable {
    /// Text before the first login, and after the last one.
    var opening: String { get }
    var closing: String { get }

    func refusal(of login: ExportedLogin) -> ExportRefusal?

    /// The key of the row: two logins cannot share it. Empty where any number of rows is allowed.
    func rowName(of login: ExportedLogin) -> [String]

    func text(of login: ExportedLogin) -> String
}

extension ShapeEncoder {
    var opening: String { "" }
    var closing: String { "" }
}
