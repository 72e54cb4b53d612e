extension VaultStore {
    /// When this vault got a witness; nil if it never had one, as far back as its trail goes. May read the whole trail.
    package func witnessedSince() async throws(StoreError) -> Timestamp? {
        var filter = AuditFilter()
        filter.kinds = [.witnessBegun, .witnessReplaced]
        var start: Int64? = 0
        while let after = start {
            let page = try await audit(filter, .after(after), limit: 1)
            if let row = page.rows.first { return row.entry.time }
            start = page.next
        }
        return nil
    }

    /// Gives a witness its first note, and records that.
    ///
    /// - Throws: ``StoreError/Code/rollbackSuspected`` if the vault has had a witness. Otherwise an older state that
    ///   was put back would be accepted once the note is lost.
    package func begin(_ witness: any Witness) async throws {
        if let refusal = readOnlyRefusal { throw refusal }
        if let since = try await witnessedSince() { throw StoreError.hasNoNote(witness, since: since) }
        let note = try await read { reader throws(StoreError) in try reader.witnessNote() }
        // The note comes first: with the row alone, a process that was killed could only hold all logins.
        try await BlockingLane.witness.run { [context] in try witness.begin(with: note, context) }
        try await record(AuditEvent(.witnessBegun))
    }
}
