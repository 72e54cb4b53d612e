/// The spool of a vault in a file, for those who may use it at this moment.
struct GuardedSpool: ReplySpool {
    let spool: Spool
    let place: VaultPlace
    let liveness: Liveness
    let readOnlyRefusal: StoreError?

    func prepare(for count: Int) throws(StoreError) {
        try liveness.check()
        if let readOnlyRefusal { throw readOnlyRefusal }
        try place.checkRoom()
        try spool.prepare(for: count)
    }

    // Not refused when the lock is lost: what a server has given must be kept whatever else went wrong.
    func add(_ reply: SpooledReply) throws(StoreError) -> SpoolHandle {
        try refuseFork()
        if let readOnlyRefusal { throw readOnlyRefusal }
        return try spool.add(reply)
    }

    func remove(_ handle: SpoolHandle) throws(StoreError) {
        try refuseFork()
        try spool.remove(handle)
    }

    func listings() throws(StoreError) -> [SpoolListing] {
        try refuseFork()
        // What is there stays there: nothing of it could be stored.
        if readOnlyRefusal != nil { return [] }
        return try spool.listings()
    }

    func depth() throws(StoreError) -> SpoolDepth { try spool.depth() }

    private func refuseFork() throws(StoreError) {
        if ForkGuard.isForked { throw .ownershipLost }
    }
}
