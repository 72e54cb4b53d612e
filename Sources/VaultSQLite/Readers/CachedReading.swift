import VaultStorage

/// How one connection uses the rows that the store has in memory.
final class CachedReading: CursorSource {
    unowned let connection: Connection
    let cache: RowCache
    /// Whether rows came from memory since this was set to false.
    var hasServed = false
    /// Whether to ask the database for everything.
    var isOff = false
    private(set) lazy var index = WALIndex(connection)
    /// By ``hotQueries``.
    private var cursors: [CachedCursor?] = []

    /// The queries whose rows are kept.
    private static let hotQueries: [Query] = [
        .sessionsOfUser, .sessionOfLogin, .sessionsOfUserAtProvider, .sessionsAndKeysOfUser, .sessionAndKeyOfLogin,
        .sessionsAndKeysOfUserAtProvider,
    ]

    init(_ connection: Connection, _ cache: RowCache) {
        self.connection = connection
        self.cache = cache
    }

    func cursor(_ query: Query) throws(StoreError) -> (any RowCursor)? {
        guard let place = Self.hotQueries.firstIndex(of: query) else { return nil }
        if cursors.isEmpty { cursors = Array(repeating: nil, count: Self.hotQueries.count) }
        if let cursor = cursors[place] { return cursor }
        let cursor = CachedCursor(query, try connection.statement(query), self)
        cursors[place] = cursor
        return cursor
    }

    func markOfSettings() throws(StoreError) -> Int64? { try cache.markOfSettings(self) }
}
