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
    private var ofUser: CachedCursor?
    private var ofUserWithKeys: CachedCursor?
    private var ofLogin: CachedCursor?
    private var ofLoginWithKey: CachedCursor?

    init(_ connection: Connection, _ cache: RowCache) {
        self.connection = connection
        self.cache = cache
    }

    func cursor(_ query: Query) throws(StoreError) -> (any RowCursor)? {
        if query == .sessionsOfUser { return try cursor(query, \.ofUser) }
        if query == .sessionOfLogin { return try cursor(query, \.ofLogin) }
        if query == .sessionsAndKeysOfUser { return try cursor(query, \.ofUserWithKeys) }
        if query == .sessionAndKeyOfLogin { return try cursor(query, \.ofLoginWithKey) }
        return nil
    }

    func markOfSettings() throws(StoreError) -> Int64? { try cache.markOfSettings(self) }

    private func cursor(
        _ query: Query, _ place: ReferenceWritableKeyPath<CachedReading, CachedCursor?>
    ) throws(StoreError) -> CachedCursor {
        if let cursor = self[keyPath: place] { return cursor }
        let cursor = CachedCursor(query, try connection.statement(query), self)
        self[keyPath: place] = cursor
        return cursor
    }
}
