import Platform
import VaultStorage

/// The spool of a vault file, for a process that may use it at this moment. It keeps the store open.
struct GuardedSpool: ReplySpool {
    let store: SQLiteVaultStore

    func prepare(for count: Int) throws(StoreError) {
        try store.database.liveness.check()
        if let refusal = store.readOnlyRefusal { throw refusal }
        try store.place.checkRoom()
        try store.spoolFile.prepare(for: count)
    }

    // Not refused when the lock is lost: a server's reply must be kept whatever else went wrong.
    func add(_ reply: SpooledReply) throws(StoreError) -> SpoolHandle {
        try refuseFork()
        if let refusal = store.readOnlyRefusal { throw refusal }
        store.checkForNewKeys()
        return try store.spoolFile.add(reply)
    }

    func remove(_ handle: SpoolHandle) throws(StoreError) {
        try refuseFork()
        try store.spoolFile.remove(handle)
    }

    func listings() throws(StoreError) -> [SpoolListing] {
        try refuseFork()
        // Existing replies stay: none of them could be stored.
        if store.readOnlyRefusal != nil { return [] }
        return try store.spoolFile.listings()
    }

    func depth() throws(StoreError) -> SpoolDepth { try store.spoolFile.depth() }

    func roots() throws(StoreError) -> [SpooledRoot] { try store.spoolFile.roots() }

    private func refuseFork() throws(StoreError) {
        if ForkGuard.isForked { throw .ownershipLost }
    }
}
