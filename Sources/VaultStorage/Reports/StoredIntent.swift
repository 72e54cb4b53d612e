/// An intent that is open, and whose.
package struct StoredIntent: Hashable, Sendable {
    package let login: LoginHandle
    package let record: IntentRecord
}
