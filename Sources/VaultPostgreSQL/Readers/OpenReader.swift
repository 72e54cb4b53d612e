import VaultStorage

/// A read-only connection and its reader. Used by one thread at a time.
struct OpenReader: @unchecked Sendable {
    let tables: ServerTables
    let reader: Reader

    init(
        _ address: ServerAddress, _ context: VaultContext, _ peers: PeerLiveness, _ watch: TimelineTracker,
        isSurvey: Bool = false
    ) throws(StoreError) {
        let connection = try ServerConnection(address)
        try SessionSettings.apply(to: connection, address, isSurvey: isSurvey)
        try watch.require(connection.history)
        try self.init(ServerTables(connection, address, peers), context)
    }

    init(_ tables: ServerTables, _ context: VaultContext) throws(StoreError) {
        self.tables = tables
        reader = try Reader(tables, context)
    }
}
