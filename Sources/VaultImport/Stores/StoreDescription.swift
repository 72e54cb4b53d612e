/// What a product's store looks like and what its values mean: as data, but for what no table can say.
struct StoreDescription: Sendable {
    let kind: StoreKind
    /// The columns by which its table is known, folded: all of ``needs``, one of ``needsOne``, and none of ``excludes``.
    var needs: Set<String>
    var needsOne: Set<String> = []
    /// Of each of these, too, one.
    var needsEach: [Set<String>] = []
    var excludes: Set<String> = []
    /// The columns of rows that a query has joined already.
    var joined: Set<String>?
    /// Columns beside those of the fields that are read here, or of which it is known that they say nothing.
    var otherColumns: Set<String> = []
    /// In the order in which they are followed.
    var links: [StoreLink] = []
    var registrations: StoreRegistrations?

    /// Together they are the row's key.
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

    /// What the tables' own constraints allow.
    var accountsInTables = AccountRepetition.allowed
    /// What is odd about every row.
    var warnings: [ImportWarning] = []
    /// Looks at a row before its values are read: documents within it are opened here, and rows that are no logins
    /// rejected.
    var prepare: @Sendable (inout StoreRow, StoreContext) throws(RowStop) -> Void = { (_, _) throws(RowStop) in }
    /// Makes a token of a column's text.
    var readToken: @Sendable (String, inout LoginDraft, StoreContext) throws(RowStop) -> String = {
        (text, _, _) throws(RowStop) in text
    }
    /// Does to a login what its values alone don't say.
    var finish: @Sendable (inout LoginDraft, StoreRow, StoreContext) -> Void = { _, _, _ in }
}

/// Which values may name the user.
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

/// A row of another table that belongs to a row.
struct StoreLink: Sendable {
    /// Its part in paths.
    let part: String
    /// Folded names that the table may have, the likeliest first.
    let tables: [String]
    /// The columns by which it is known.
    let needs: Set<String>
    let from: [Path]
    let to: String
    /// What a row is without it; nil if it may do without.
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

/// Why a row is read no further.
enum RowStop: Error {
    case reject(RejectReason)
    /// Nothing of the source can be read.
    case abort(ImportError)
}
