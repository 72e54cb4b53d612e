/// The store detected in a file, and the evidence.
public struct StoreDetection: Hashable, Sendable {
    public let kind: StoreKind
    public let format: SourceFormat
    /// The table with the tokens; nil in a file that has no tables.
    public let table: String?
    /// Sentences for people: the evidence, the other tables that are used, and those that are ignored.
    public let evidence: [String]
    /// Columns that look like a token or a time but that no field of a login is read from; perhaps a site's own
    /// columns.
    public let unreadColumns: [String]
    let accounts: AccountRepetition
}

/// Whether a store may have several rows for one account at one client.
enum AccountRepetition: Hashable, Sendable {
    /// Files and queries may contain repetitions.
    case allowed
    /// Only for rows that name no client.
    case withoutClient
    case never
}
