// An intent in doubt is written together with the session cell, which is bound to the row and listed in the user's
// manifest. So removing the intent does not remove its doubt, unless the attacker has a key. For why a fresh intent is
// not bound in this way, see `docs/adr/0025-an-intent-that-is-taken-away.md`.
extension SessionRecord {
    static let lackingDoubt = "the doubt that its login knows of is missing"

    /// Whether this session records a doubt whose intent row is missing.
    func lacksDoubt(of intent: IntentRecord?) -> Bool {
        doubtCause != nil && intent?.isInDoubt != true
    }
}
