extension SQLiteVaultStore {
    package func prepareSpool() throws(StoreError) {}

    package func spool(_ reply: SpooledReply) throws(StoreError) -> SpoolHandle {
        throw StoreError(.full, "there is no spool yet")
    }

    package func unspool(_ handle: SpoolHandle) throws(StoreError) {}

    package func spooledReplies() throws(StoreError) -> [SpoolListing] { [] }
}
