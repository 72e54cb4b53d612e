/// The layout of a product's store and the meaning of its values: as data, except for the parts that need code.
struct StoreDescription: Sendable {
    let kind: StoreKind
    /// The columns that identify its table, folded: all of ``needs``, one of ``needsOne``, and none of ``excludes``.
    var needs: Set<String>
    var needsOne: Set<String> = []
    /// At least one column of each of these sets is also required.
    var needsEach: [Set<String>] = []
    var excludes: Set<String> = []
    /// The columns of rows that a query has already joined.
    var joined: Set<String>?
    /// Columns other than those of the fields that are read here, or that are known to be irrelevant.
    var otherColumns: Set<String> = []
    /// In the order in which they are followed.
    var links: [StoreLink] = []
    var registrations: StoreRegistrations?

    /// Together they form the row's key.
    var rowKey: [Path] = ["id"]
    var user: UserPaths
    var provider: [Path]
    var subject: [Path] = []
    var clientID: [Path] = []
    var accessToken: [Path]
    var tokenType: [Path] = []
    var expiresAt: [Path] = []
    var refreshToken: [Path]
    var refreshExpiresAt: [Path] = []
    var scope: [Path] = []
    var scopeSeparator: Character = " "
    var idToken: [Path] = []
    var dpopKey: [Path] = []
    var label: [Path] = []
    var obtainedAt: [Path] = []
    var attributes: [(name: String, path: Path)] = []

    /// Whether the tables' own constraints allow repeated accounts.
    var accountsInTables = AccountRepetition.allowed
    /// Warnings that apply to every row.
    var warnings: [ImportWarning] = []
    /// Prepares a row before its values are read: it opens documents within the row, and rejects rows that are not
    /// logins.
    var prepare: @Sendable (inout StoreRow, StoreContext) throws(RowStop) -> Void = { (_, _) throws(RowStop) in }
    /// Converts a column's text to a token.
    var readToken: @Sendable (String, inout LoginDraft, StoreContext) throws(RowStop) -> String = {
        (text, _, _) throws(RowStop) in text
    }
    /// Completes a login with facts that its values alone do not contain.
    var finish: @Sendable (inout LoginDraft, StoreRow, StoreContext) -> Void = { _, _, _ in }
}

/// The values that may name the user.
struct UserPaths: Sendable {
    var primaryKey: [Path]
    var email: [Path] = ["user.email", "email"]
    var username: [Path] = ["user.username", "username"]

    func paths(for key: UserKey) -> [Path] {
        switch key {
        case .primaryKey: primaryKey
        case .email: email
        case .username: username
        case .column(let name): [Path(ColumnIndex.folded(name)), Path("user." + ColumnIndex.folded(name))]
        }
    }
}

/// A row of another table that a row is linked to.
struct StoreLink: Sendable {
    /// The name of its part in paths.
    let part: String
    /// Folded names that the table may have, the most likely first.
    let tables: [String]
    /// The columns that identify it.
    let needs: Set<String>
    let from: [Path]
    let to: String
    /// The reason for rejecting a row without it; nil if it is optional.
    let missing: RejectReason?

    /// The source's users, in a table of one of the usual names.
    static func user(_ tables: [String], from: [Path]) -> StoreLink {
        StoreLink(part: "user", tables: tables, needs: ["id"], from: from, to: "id", missing: .ownerMissing)
    }
}

/// The client registrations of a store.
struct StoreRegistrations: Sendable {
    let tables: Set<String>
    let needs: Set<String>
    let provider: [Path]
    let providerKind: [Path]
    let clientID: [Path]
    let clientSecret: [Path]
    let scope: [Path]
    var prepare: @Sendable (inout StoreRow, StoreContext) throws(RowStop) -> Void = { (_, _) throws(RowStop) in }
}

/// The reason why reading a row stops.
enum RowStop: Error {
    case reject(RejectReason)
    /// The whole source is unreadable.
    case abort(ImportError)
}
