/// Which store was found in a file, and by what.
public struct StoreDetection: Hashable, Sendable {
    public let kind: StoreKind
    public let format: SourceFormat
    /// The table with the tokens; nil in a file that has no tables.
    public let table: String?
    /// Sentences for people: what decided, what else is used, and what is left alone.
    public let evidence: [String]
    /// Columns that look like a token or a time, and that no field of a login is read from: perhaps a site's own names.
    public let unreadColumns: [String]
    let accounts: AccountRepetition
}

/// Whether a store may have several rows for one account at one client.
enum AccountRepetition: Hashable, Sendable {
    /// Files and queries allow anything.
    case allowed
    /// Only for rows that name no client.
    case withoutClient
    case never
}
