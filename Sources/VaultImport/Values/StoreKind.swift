/// The product that wrote a source.
public struct StoreKind: Hashable, Sendable, CustomStringConvertible, CaseIterable {
    /// Stable: for commands, reports and files.
    public let name: String

    private init(known name: String) { self.name = name }

    /// The kind with this name; nil for an unknown name.
    public init?(name: String) {
        guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = kind
    }

    public var description: String { name }

    /// TokenVault's own members, in JSON Lines or CSV.
    public static let canonical = StoreKind(known: "canonical")
    /// django-allauth's `socialaccount` tables.
    public static let allauth = StoreKind(known: "allauth")
    /// The `accounts` of Auth.js, formerly NextAuth.
    public static let authJS = StoreKind(known: "authjs")
    /// The `account` table of Better Auth.
    public static let betterAuth = StoreKind(known: "better-auth")
    /// `oauth2_authorized_client` of Spring Security's client.
    public static let springSecurity = StoreKind(known: "spring-security")
    /// `social_auth_usersocialauth` of python-social-auth.
    public static let socialAuth = StoreKind(known: "social-auth")
    /// The token model that Authlib's documentation recommends to clients.
    public static let authlib = StoreKind(known: "authlib")
    /// `_nango_connections` of Nango.
    public static let nango = StoreKind(known: "nango")
    /// The unified cache of the MSAL libraries.
    public static let msal = StoreKind(known: "msal")

    public static let allCases: [StoreKind] = [
        .canonical, .allauth, .authJS, .betterAuth, .springSecurity, .socialAuth, .authlib, .nango, .msal,
    ]
}
