/// A witness, which keeps the newest note of a vault that any process has seen, apart from the vault.
package protocol Witness: Sendable {
    /// The interval at which it is read, and given a newer note.
    var interval: Duration { get }
    /// Whether it answers fast enough that a change can wait for it.
    var answersAtOnce: Bool { get }
    /// A description for people, with its location: `the file …`.
    var name: String { get }

    /// The text of its note; `nil` if it has none yet.
    func text(_ context: VaultContext) throws(StoreError) -> String?

    /// Gives it a note. It keeps the newest of all notes, whatever order they come in. The note is durable when this
    /// returns.
    ///
    /// - Parameter isForced: whether the note replaces any other.
    func advance(to note: WitnessNote, _ context: VaultContext, isForced: Bool) throws(StoreError)

    /// Gives it its first note.
    func begin(with note: WitnessNote, _ context: VaultContext) throws(StoreError)

    /// Refuses to replace a file that is not a witness's note. Changes nothing.
    func requireReplaceable() throws(StoreError)

    /// Checks whether it can store a note, as far as possible without storing one.
    func requireRoom(_ context: VaultContext) throws(StoreError)
}

extension Witness {
    /// Its note, authenticated with the known keys.
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

    /// The text of its note before that is replaced; nil if it has none yet. Refuses to replace the note of another
    /// vault: that vault would be refused by its own witness, and its newest state would be forgotten.
    package func replaceableText(_ context: VaultContext) throws(StoreError) -> String? {
        try requireReplaceable()
        // An empty file is one that someone has made ready for it.
        guard let text = try text(context), !text.isEmpty else { return nil }
        guard !WitnessNote.isNote(text.utf8) || WitnessNote.isNote(text, of: context) else {
            throw StoreError(
                .invalidValue, "the witness keeps the note of another vault: \(name)",
                hint: "give each vault a witness of its own, such as another file: --witness PATH")
        }
        return text
    }
}

extension StoreError {
    /// The error for a witness without a note. That does not confirm the vault: the witness's disk may not be mounted,
    /// or its note was removed.
    ///
    /// - Parameter since: when the vault got a witness, by its trail. A first note would accept any older state then.
    package static func hasNoNote(_ witness: any Witness, since: Timestamp?) -> StoreError {
        let check = "check --witness, and that its disk is mounted"
        guard let since else {
            return StoreError(
                .rollbackSuspected, "the witness has no note of this vault: \(witness.name)",
                hint: "\(check). If the vault is to have a witness from now on: `vaultctl witness begin`")
        }
        return StoreError(
            .rollbackSuspected,
            "the witness has no note of this vault, which has had a witness since \(since.text): \(witness.name)",
            hint: "\(check); if the witness was moved, move its note, too. If the note is lost for good: "
                + "`vaultctl witness accept`, which holds all logins")
    }

    /// The same error with the name of the witness.
    package func naming(_ witness: any Witness) -> StoreError {
        guard code == .rollbackSuspected, !message.contains(witness.name) else { return self }
        return StoreError(code, "\(message) (\(witness.name))", hint: hint)
    }
}
