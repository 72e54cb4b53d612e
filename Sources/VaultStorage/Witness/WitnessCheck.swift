import VaultCrypto

extension Reader {
    /// Refuses a vault if its witness has seen a newer or a different state: the vault was put back to an older state,
    /// or two copies of it are in use.
    ///
    /// - Parameter text: the text of the witness's note.
    /// - Returns: The note.
    @discardableResult
    package func check(against text: String) throws(StoreError) -> WitnessNote {
        try withSnapshot { () throws(StoreError) in
            let note = try note(text)
            let head = try tables.integer(.headOfTrail) ?? 0
            let seen = note.position
            let goesOn = seen.sequence <= head ? try holds(seen) : false
            guard goesOn || note.incarnation >= context.incarnation else {
                throw StoreError(
                    .rollbackSuspected,
                    "the vault was restored from a backup, and the witness has seen more of the vault that it was made of",
                    hint: "nothing was sent. If this vault is to take the place of that one, go on with "
                        + "`vaultctl witness accept`")
            }
            guard note.incarnation <= context.incarnation else {
                throw StoreError(
                    .rollbackSuspected,
                    "an older state of the vault was put back: it is incarnation \(context.incarnation), and the witness has "
                        + "seen incarnation \(note.incarnation)",
                    hint: Self.wayOut)
            }
            guard seen.sequence <= head else {
                throw StoreError(
                    .rollbackSuspected,
                    "an older state of the vault was put back: its audit trail ends at row \(head), and the witness has "
                        + "seen row \(seen.sequence)",
                    hint: Self.wayOut)
            }
            guard goesOn else {
                let own = try auditPosition(seen.sequence).map { " (here \(Base64.encode($0.link.array)))" } ?? ""
                throw StoreError(
                    .rollbackSuspected,
                    "two copies of the vault are in use: row \(seen.sequence) of the audit trail is another one than the "
                        + "witness has seen\(own)",
                    hint: "stop one of them, and keep it; " + Self.wayOut)
            }
            return note
        }
    }

    /// Reads the note. Another process may have replaced the trail's key, and written the note since.
    private func note(_ text: String) throws(StoreError) -> WitnessNote {
        let known = context.keyring
        do throws(StoreError) { return try WitnessNote(text, context) } catch {
            try opener.vaultRow()
            guard context.keyring !== known else { throw error }
            return try WitnessNote(text, context)
        }
    }

    /// Whether the trail continues from there: the row exists with this link, or was pruned since.
    private func holds(_ seen: AuditPosition) throws(StoreError) -> Bool {
        if let own = try auditPosition(seen.sequence) { return own.link == seen.link }
        let pruning = try trailPruning()
        return pruning.through == seen.sequence ? pruning.link == seen.link : pruning.through > seen.sequence
    }

    /// A note of the end of the trail, for a witness.
    package func witnessNote() throws(StoreError) -> WitnessNote {
        try withSnapshot { () throws(StoreError) in
            // A note is written under the key of its row, whichever process made that key.
            try opener.vaultRow()
            let head = try auditHead()
            guard let position = try auditPosition(head) else {
                throw .quarantined("audit", nil, "the last row has no link")
            }
            return WitnessNote(position: position, incarnation: context.incarnation)
        }
    }

    private static var wayOut: String {
        "nothing was sent. Put the newest copy of the vault in its place; if this is the newest that there is, hold all "
            + "its logins and go on with `vaultctl witness accept`"
    }
}

extension Query {
    fileprivate static let headOfTrail = select([.greatest(Table.audit["sequence"])], from: .audit)
}
