/// The reason why a login is not exported. Names are stable for programs; none of them quotes the login.
public struct ExportRefusal: Hashable, Sendable, CustomStringConvertible {
    /// Stable, for programs and reports.
    public let name: String
    /// One sentence, lower case, without a full stop.
    public let message: String

    /// For your own sinks.
    public init(_ name: String, _ message: String) {
        self.name = name
        self.message = message
    }

    public var description: String { name }
}

/// Obstacles in the vault.
extension ExportRefusal {
    /// The login is dead, ended, or has neither a valid access token nor a refresh token.
    public static let dead = ExportRefusal("dead", "the login can neither be used nor renewed")
    /// Another system owns the chain: the one that the login was imported from, or an earlier export's.
    public static let heldBySource = ExportRefusal("heldBySource", "another system owns it")
    /// Two systems have renewed it.
    public static let contested = ExportRefusal("contested", "another system has also renewed it")
    /// A restore holds it: its refresh token may be spent.
    public static let heldByRestore = ExportRefusal("heldByRestore", "a restore holds it")
    /// A renewal is in progress or in doubt: its refresh token may be spent.
    public static let renewalOpen = ExportRefusal("renewalOpen", "a renewal is under way or in doubt")
    /// The user is disabled.
    public static let userDisabled = ExportRefusal("userDisabled", "its user is disabled")
    /// The row cannot be opened.
    public static let damaged = ExportRefusal("damaged", "its row cannot be opened")
    /// Only the app supplies its tokens.
    public static let noProvider = ExportRefusal("noProvider", "it belongs to no provider")
    /// It kept changing while it was exported.
    public static let changed = ExportRefusal("changed", "it was changed while it was exported")
}

/// Values that a shape cannot represent.
extension ExportRefusal {
    /// The tokens are bound to a DPoP key.
    public static let keyBound = ExportRefusal(
        "keyBound", "its tokens are bound to a key, which the format cannot represent")
    /// The login is for one API (RFC 9728), and its tokens may go nowhere else.
    public static let resourceBound = ExportRefusal(
        "resourceBound", "its tokens are for one API alone, which the format cannot represent")
    /// Rows are identified by the account's id at the provider, which the vault does not know.
    public static let noSubject = ExportRefusal(
        "noSubject",
        "the user's id at the provider is not known: an id token brings it, after a log-in with the scope openid")
    /// A row must have an access token.
    public static let noAccessToken = ExportRefusal("noAccessToken", "there must be an access token")
    /// An earlier login occupies the same row.
    public static let secondLogin = ExportRefusal("secondLogin", "another login occupies the same row")
    /// A value is longer than its column.
    public static let tooLong = ExportRefusal("tooLong", "a value is too long")
    /// A value has a character that the format cannot hold.
    public static let unrepresentable = ExportRefusal(
        "unrepresentable", "a value has a character that the format cannot represent")
}
