public import FoundationEssentials
public import OAuthClient

/// What one row of a source is.
public enum SourceRow: Sendable {
    /// Tokens of a user.
    case login(SourceLogin)
    /// A client registration at a provider: what a provider can be made from.
    case registration(SourceRegistration)
    /// A row that is a part of a login which comes in a row of its own.
    case part(SourcePlace, of: SourcePlace)
    /// A row that cannot be used.
    case reject(SourceReject)

    /// Where it stands.
    public var place: SourcePlace {
        switch self {
        case .login(let login): login.place
        case .registration(let registration): registration.place
        case .part(let place, _): place
        case .reject(let reject): reject.place
        }
    }
}

/// Where a row stands in its source.
public struct SourcePlace: Hashable, Sendable, CustomStringConvertible {
    /// Counts from 1: the line in a text file, the row in a table.
    public let row: Int
    /// The table, where the source has several.
    public let table: String?
    /// What the source itself calls the row, such as its primary key.
    public let key: String?

    init(row: Int, table: String? = nil, key: String? = nil) {
        self.row = row
        self.table = table
        self.key = key
    }

    /// Without the key: some sources use mail addresses.
    public var description: String { table.map { "row \(row) of \($0)" } ?? "row \(row)" }
}

/// One login of one user, as the source has it.
///
/// Its renderings show neither tokens nor the user.
public struct SourceLogin: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public let place: SourcePlace
    /// The user, by the key that the plan chose. Its bytes are the source's.
    public let userKey: String
    /// The source's own name of the provider.
    public let provider: String
    /// The account's id at the provider. For OpenID providers it usually is the `sub` claim.
    public let subject: String?
    /// Whether ``subject`` is the id token's, because the row itself names none.
    let isSubjectOfIDToken: Bool
    /// The client registration to which the refresh token is bound, where the source knows it.
    public let clientID: ClientID?
    public let accessToken: AccessToken?
    /// Nil where the source does not store it.
    public let tokenType: TokenType?
    /// Nil if it is not known.
    public let expiresAt: Date?
    public let refreshToken: RefreshToken?
    /// Nil if it is not known, or never.
    public let refreshExpiresAt: Date?
    public let scope: Scope?
    public let idToken: IDToken?
    public let dpopKey: DPoPKey?
    public let label: String?
    /// What else the source has, under names of its own. No secrets.
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

/// An access token for one resource, beside the login's own.
public struct SourceResourceToken: Sendable {
    /// What the source says the token is for, such as its scopes.
    public let target: String
    public let accessToken: AccessToken
    public let expiresAt: Date?
}

/// A client registration that the source holds.
///
/// Endpoints are in no source: a profile or your own configuration gives them.
public struct SourceRegistration: Sendable {
    public let place: SourcePlace
    /// The source's own name of the provider.
    public let provider: String
    /// What kind of provider it is, where the source says so: several registrations may be of one kind.
    public let providerKind: String?
    public let clientID: ClientID
    public let clientSecret: ClientSecret?
    public let scope: Scope?
}

/// A row that cannot be used, and why.
public struct SourceReject: Hashable, Sendable, CustomStringConvertible {
    public let place: SourcePlace
    public let reason: RejectReason

    init(_ place: SourcePlace, _ reason: RejectReason) {
        self.place = place
        self.reason = reason
    }

    public var description: String { "\(place): \(reason.words)" }
}
