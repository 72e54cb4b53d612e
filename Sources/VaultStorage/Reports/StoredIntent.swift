/// An open intent and its login.
package struct StoredIntent: Hashable, Sendable {
    package let login: LoginHandle
    package let record: IntentRecord
}

/// A page of the open intents, in the order of their fences: the order in which they were begun.
package struct IntentPage: Sendable {
    package var intents: [StoredIntent] = []
    /// Where the next page begins; nil after the last.
    package var next: Int64?

    package init(intents: [StoredIntent] = [], next: Int64? = nil) {
        self.intents = intents
        self.next = next
    }
}
