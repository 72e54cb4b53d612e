/// What keeps the newest note of a vault that any process has seen, apart from the vault.
package protocol Witness: Sendable {
    /// How often it is looked at, and given a newer note.
    var interval: Duration { get }
    /// Whether a change can wait for its answer.
    var answersAtOnce: Bool { get }
    /// What it is and where, for people: `the file …`.
    var name: String { get }

    /// The text of the note that it keeps; `nil` if it has none yet.
    func text(_ context: VaultContext) throws(StoreError) -> String?

    /// Gives it a note. It keeps the newest of those that it was given, whatever order they come in. Durable when this
    /// returns.
    ///
    /// - Parameter isForced: whether the note takes the place of any other.
    func advance(to note: WitnessNote, _ context: VaultContext, isForced: Bool) throws(StoreError)

    /// Gives it its first note.
    func begin(with note: WitnessNote, _ context: VaultContext) throws(StoreError)

    /// Refuses to replace what is no note of a witness. Changes nothing.
    func requireReplaceable() throws(StoreError)

    /// Finds out whether it can be given a note, as far as that can be known without giving it one.
    func requireRoom(_ context: VaultContext) throws(StoreError)
}

extension Witness {
    /// The note that it keeps, by the keys that are known.
    package func read(_ context: VaultContext) throws(StoreError) -> WitnessNote? {
        guard let text = try text(context) else { return nil }
        return try WitnessNote(text, context)
    }

    package func advance(to note: WitnessNote, _ context: VaultContext) throws(StoreError) {
        try advance(to: note, context, isForced: false)
    }

    package func begin(with note: WitnessNote, _ context: VaultContext) throws(StoreError) {
        try advance(to: note, context)
    }

    package func requireReplaceable() throws(StoreError) {}

    package func requireRoom(_ context: VaultContext) throws(StoreError) { _ = try text(context) }
}

extension StoreError {
    /// The witness has nothing. That is no agreement: its disk may not be mounted, or its note was taken away.
    package static func hasNoNote(_ witness: any Witness) -> StoreError {
        StoreError(
            .rollbackSuspected, "the witness has no note of this vault: \(witness.name)",
            hint: "check --witness, and that its disk is mounted. If the vault is to have a witness from now on: "
                + "`vaultctl witness begin`; if its note is lost for good: `vaultctl witness accept`")
    }

    /// The same error with what it is about.
    package func naming(_ witness: any Witness) -> StoreError {
        guard code == .rollbackSuspected, !reason.contains(witness.name) else { return self }
        return StoreError(code, "\(reason) (\(witness.name))", hint: hint)
    }
}
