import Platform
import VaultStorage

/// The spool of a vault on a server. It keeps the store open.
struct ServerSpool: ReplySpool {
    let store: PostgreSQLVaultStore
    let file: Spool

    func prepare(for count: Int) throws(StoreError) {
        try refuseFork()
        try file.prepare(for: count)
    }

    func add(_ reply: SpooledReply) throws(StoreError) -> SpoolHandle {
        try refuseFork()
        // Loads a root key that another process has made since, but does not wait for it: a reply must be kept.
        if store.lock.isHeld {
            try? store.readers.read { reader throws(StoreError) in try reader.checkForNewKeys() }
        }
        return try file.add(reply)
    }

    func remove(_ handle: SpoolHandle) throws(StoreError) {
        try refuseFork()
        try file.remove(handle)
    }

    func listings() throws(StoreError) -> [SpoolListing] {
        try refuseFork()
        return try file.listings()
    }

    func depth() throws(StoreError) -> SpoolDepth { try file.depth() }

    func roots() throws(StoreError) -> [SpooledRoot] { try file.roots() }

    private func refuseFork() throws(StoreError) {
        if ForkGuard.isForked { throw .ownershipLost }
    }
}
