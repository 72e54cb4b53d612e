/// What keeps the newest note of a vault that any process has seen, apart from the vault.
package protocol Witness: Sendable {
    /// How often it is looked at, and given a newer note.
    var interval: Duration { get }
    /// Whether a change can wait for its answer.
    var answersAtOnce: Bool { get }

    /// The text of the note that it keeps; `nil` if it has none yet.
    func text(_ context: VaultContext) throws(StoreError) -> String?

    /// Gives it a note. It keeps the newest of those that it was given, whatever order they come in. Durable when this
    /// returns.
    ///
    /// - Parameter isForced: whether the note takes the place of any other.
    func advance(to note: WitnessNote, _ context: VaultContext, isForced: Bool) throws(StoreError)
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
}
