import VaultCrypto

/// Finds providers, for a reader or the writer. It opens only the requested providers.
package struct ProviderRows {
    let tables: any TableAccess
    let opener: RowOpener

    func listings(after sequence: Int64?, limit: Int) throws(StoreError) -> [ProviderListing] {
        // An edited row may have any number.
        if sequence == .max { return [] }
        let row = try tables.cursor(.providerPage)
        defer { row.reset() }
        row.bind(1, sequence.map { $0 + 1 } ?? .min)
        row.bind(2, Int64(limit))
        var result: [ProviderListing] = []
        while try row.step() {
            var provider: StoredProvider?
            var damage: StoreError?
            do throws(StoreError) { provider = try opener.provider(row) } catch {
                opener.noteTear()
                damage = error
            }
            result.append(
                ProviderListing(
                    sequence: row.integer(4), handle: row.bytes16(0).map { ProviderHandle($0) }, provider: provider,
                    damage: damage))
        }
        return result
    }

    package func provider(_ handle: ProviderHandle) throws(StoreError) -> StoredProvider {
        let row = try tables.cursor(.provider)
        return try row.withBinding(1, handle.bytes) { () throws(StoreError) in
            guard try row.step() else { throw StoreError.notFound(.provider) }
            return try opener.provider(row)
        }
    }

    func provider(named name: String) throws(StoreError) -> StoredProvider {
        let known = try find(name) { row throws(StoreError) in try opener.provider(row) }
        if let known { return known }
        // The vault has not been writable since its migration, for example because it is on a read-only disk.
        guard let found = try unnamed().first(where: { $0.stored.record.name == name }) else {
            throw .notFound(.provider)
        }
        return found.stored
    }

    /// The row of the provider with this name, damaged or not.
    func row(named name: String) throws(StoreError) -> Int64? {
        try find(name) { $0.integer(4) }
    }

    /// Passes the row with this name to the body. Returns nil if there is none.
    func find<R>(_ name: String, _ body: (any RowCursor) throws(StoreError) -> R) throws(StoreError) -> R? {
        let known = opener.keyring
        if let found = try find(known.blindIndexes(ofProviderName: name), body) { return found }
        // Another process may have replaced the index key.
        let newest = try opener.vaultRow().keyring
        if newest === known { return nil }
        // And it may do so again before the next look-up.
        opener.noteTear()
        return try find(newest.blindIndexes(ofProviderName: name), body)
    }

    private func find<R>(
        _ indexes: BlindIndexes, _ body: (any RowCursor) throws(StoreError) -> R
    ) throws(StoreError) -> R? {
        let row = try tables.cursor(.providerByName)
        // The row may be moved between the first look-up and the second: then the third finds it.
        for index in indexes.former == nil ? [indexes.current] : indexes.all + [indexes.current] {
            let found: R? = try row.withBinding(1, index.bytes) { () throws(StoreError) in
                try row.step() ? try body(row) : nil
            }
            if let found { return found }
        }
        return nil
    }

    /// Providers whose index must still be filled in. One that does not open stays without an index.
    func unnamed() throws(StoreError) -> [(row: Int64, stored: StoredProvider)] {
        let row = try tables.cursor(.unnamedProviders)
        defer { row.reset() }
        var result: [(row: Int64, stored: StoredProvider)] = []
        while try row.step() {
            do throws(StoreError) { result.append((row.integer(4), try opener.provider(row))) } catch {
                opener.noteTear()
            }
        }
        return result
    }

    /// Whether there is a provider whose index can be filled in.
    package func hasUnnamed() throws(StoreError) -> Bool {
        for provider in try unnamed() where try row(named: provider.stored.record.name) == nil { return true }
        return false
    }

    /// The index for a row that is written now.
    func index(of name: String) -> BlindIndex { opener.keyring.blindIndex(ofProviderName: name) }
}
