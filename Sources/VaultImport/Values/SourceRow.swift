public import FoundationEssentials
public import OAuthClient

/// The kind of one row of a source.
public enum SourceRow: Sendable {
    /// Tokens of a user.
    case login(SourceLogin)
    /// A client registration at a provider, which a provider can be made from.
    case registration(SourceRegistration)
    /// A row that is part of a login with its own row.
    case part(SourcePlace, of: SourcePlace)
    /// A row that cannot be used.
    case reject(SourceReject)

    /// The position of the row.
    public var place: SourcePlace {
        switch self {
        case .login(let login): login.place
        case .registration(let registration): registration.place
        case .part(let place, _): place
        case .reject(let reject): reject.place
        }
    }
}

/// The position of a row in its source.
public struct SourcePlace: Hashable, Sendable, CustomStringConvertible {
    /// Counted from 1: the line in a text file, the row in a table.
    public let row: Int
    /// The table, where the source has several.
    public let table: String?
    /// The source's own key of the row, such as its primary key.
    public let key: String?

    init(row: Int, table: String? = nil, key: String? = nil) {
        self.row = row
        self.table = table
        self.key = key
    }

    /// Without the key, because some sources use mail addresses.
    public var description: String { table.map { "row \(row) of \($0)" } ?? "row \(row)" }
}

/// One login of one user in the source.
///
/// No rendering shows the tokens or the user.
public struct SourceLogin: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public let place: SourcePlace
    /// The user, by the key that the plan chose. Its bytes are unchanged.
    public let userKey: String
    /// The source's own name of the provider.
    public let provider: String
    /// The account's id at the provider. For OpenID providers it usually is the `sub` claim.
    public let subject: String?
    /// Whether ``subject`` comes from the id token, because the row itself has none.
    let isSubjectOfIDToken: Bool
    /// The client registration that the refresh token is bound to, where the source knows it.
    public let clientID: ClientID?
    public let accessToken: AccessToken?
    /// Nil where the source does not store it.
    public let tokenType: TokenType?
    /// Nil if unknown.
    public let expiresAt: Date?
    public let refreshToken: RefreshToken?
    /// Nil if unknown, or never.
    public let refreshExpiresAt: Date?
    public let scope: Scope?
    public let idToken: IDToken?
    public let dpopKey: DPoPKey?
    public let label: String?
    /// The API that the login is for, and to which alone its tokens go; nil: the provider decides.
    package let resource: String?
    /// Additional values of the source, under its own names. No secrets.
    public let attributes: [String: String]
    /// When the tokens were issued, where the source knows it.
    public let obtainedAt: Date?
    /// Access tokens for other resources, which the same refresh token renews.
    public let resourceTokens: [SourceResourceToken]
    public let warnings: [ImportWarning]

    init(_ draft: LoginDraft, warnings: [ImportWarning]) {
        place = draft.place
        userKey = draft.userKey
        provider = draft.provider
        subject = draft.subject
        isSubjectOfIDToken = draft.isSubjectOfIDToken
        clientID = draft.clientID
        accessToken = draft.accessToken
        tokenType = draft.tokenType
        expiresAt = draft.expiresAt
        refreshToken = draft.refreshToken
        refreshExpiresAt = draft.refreshExpiresAt
        scope = draft.scope
        idToken = draft.idToken
        dpopKey = draft.dpopKey
        label = draft.label
        resource = draft.resource
        attributes = draft.attributes
        obtainedAt = draft.obtainedAt
        resourceTokens = draft.resourceTokens
        self.warnings = warnings
    }

    /// The subject that the row itself names.
    var ownSubject: String? { isSubjectOfIDToken ? nil : subject }

    public var description: String { "login in \(place)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}

/// An access token for one resource, in addition to the login's own.
public struct SourceResourceToken: Sendable {
    /// The purpose of the token according to the source, such as its scopes.
    public let target: String
    public let accessToken: AccessToken
    public let expiresAt: Date?
}

/// A client registration in the source.
///
/// No source contains endpoints: they come from a profile or your own configuration.
public struct SourceRegistration: Sendable {
    public let place: SourcePlace
    /// The source's own name of the provider.
    public let provider: String
    /// The kind of provider, where the source names it: several registrations may be of one kind.
    public let providerKind: String?
    public let clientID: ClientID
    public let clientSecret: ClientSecret?
    public let scope: Scope?
}

/// A row that cannot be used, and the reason.
public struct SourceReject: Hashable, Sendable, CustomStringConvertible {
    public let place: SourcePlace
    public let reason: RejectReason

    init(_ place: SourcePlace, _ reason: RejectReason) {
        self.place = place
        self.reason = reason
    }

    public var description: String { "\(place): \(reason.message)" }
}
