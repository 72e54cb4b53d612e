import VaultCrypto
import VaultStorage

extension SQLiteVaultStore {
    /// Finds out whether owners that began something here, under an earlier lock file, are gone.
    ///
    /// Their bytes are no longer visible. But a process has the database open as long as it has the vault open, and
    /// opens it before it takes a byte: if this connection is the only one of all, they are gone.
    /// - Parameter connection: the first one of the store.
    func noteDepartedOwners(_ connection: Connection) throws(StoreError) {
        let foreign = try owners(connection).filter { ownerLock.isForeign($0) }
        guard !foreign.isEmpty, try connection.isAlone() else { return }
        ownerLock.noteDeparted(foreign)
    }

    private func owners(_ connection: Connection) throws(StoreError) -> Set<Int64> {
        var owners = Set((try? spoolFile.owners()) ?? [])
        let rows = try connection.statement("SELECT DISTINCT owner FROM refreshIntent WHERE owner > 0")
        defer { rows.reset() }
        while try rows.step() { owners.insert(rows.integer(0)) }
        return owners
    }
}
