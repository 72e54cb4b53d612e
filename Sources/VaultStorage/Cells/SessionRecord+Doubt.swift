// An intent in doubt is written together with the session cell, which is bound to the row and known to the user's manifest.
// So taking an intent away does not make its doubt forgotten, unless one has a key. Why a fresh intent is not bound so:
// `docs/adr/0025-an-intent-that-is-taken-away.md`.
extension SessionRecord {
    static let lackingDoubt = "the doubt that its login knows of is missing"

    /// Whether the row of a doubt has gone that this session speaks of.
    func lacksDoubt(of intent: IntentRecord?) -> Bool {
        doubtCause != nil && intent?.isInDoubt != true
    }
}
