extension VaultStore {
    /// Lets this process deliver to an observer, unless another one does that lives.
    ///
    /// - Parameters:
    ///   - start: Where an observer begins that the vault does not know.
    ///   - head: Where one begins whose row is damaged.
    /// - Returns: The observer; nil if another process delivers to it.
    package func claimObserver(_ name: String, start: String, head: String) async throws -> ObserverRecord? {
        let owner = owner
        // All processes but one ask again and again: that must not write.
        let isTaken = try await read { reader throws(StoreError) in try reader.isTaken(name, by: owner) }
        if isTaken { return nil }
        return try await write { try $0.claimObserver(name, by: owner, start: start, head: head) }
    }

    /// The observer of this name; nil if the vault knows none, or if its row is damaged.
    package func observer(_ name: String) async throws(StoreError) -> ObserverRecord? {
        try await read { reader throws(StoreError) in try reader.observer(name) }
    }

    /// Stores how far an observer has got. False, with nothing stored, if this process no longer delivers to it.
    package func advance(_ record: ObserverRecord) async throws -> Bool {
        let owner = owner
        return try await write { try $0.advance(record, by: owner) }
    }
}

extension Reader {
    fileprivate func observer(_ name: String) throws(StoreError) -> ObserverRecord? {
        do throws(StoreError) { return try opener.observer(name) } catch {
            // Whoever claims it makes a new row.
            guard error.isOfRow else { throw error }
            return nil
        }
    }

    fileprivate func isTaken(_ name: String, by owner: Int64) throws(StoreError) -> Bool {
        guard let found = try observer(name)?.owner, found != owner, found != ObserverRecord.nobody else {
            return false
        }
        return tables.isOwnerAlive(found)
    }
}
