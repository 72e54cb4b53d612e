extension SQLiteVaultStore {
    package func prepareSpool(for count: Int) throws(StoreError) {
        try database.liveness.check()
        if let readOnlyRefusal { throw readOnlyRefusal }
        try place.checkRoom()
        try spoolFile.prepare(for: count)
    }

    // Not refused when the lock is lost: what a server has given must be kept whatever else went wrong.
    package func spool(_ reply: SpooledReply) throws(StoreError) -> SpoolHandle {
        try refuseFork()
        if let readOnlyRefusal { throw readOnlyRefusal }
        return try spoolFile.add(reply)
    }

    package func unspool(_ handle: SpoolHandle) throws(StoreError) {
        try refuseFork()
        try spoolFile.remove(handle)
    }

    package func spooledReplies() throws(StoreError) -> [SpoolListing] {
        try refuseFork()
        // What is there stays there: nothing of it could be stored.
        if readOnlyRefusal != nil { return [] }
        return try spoolFile.listings()
    }

    private func refuseFork() throws(StoreError) {
        if ForkGuard.isForked { throw .ownershipLost }
    }
}
