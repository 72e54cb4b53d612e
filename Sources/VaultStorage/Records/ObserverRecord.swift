/// How far a named observer of events has got, and which process delivers to it.
package struct ObserverRecord: Hashable, Sendable {
    package let name: String
    /// The position in the audit trail up to which the observer has handled everything, as text.
    package var cursor: String
    /// The vault's incarnation when the observer got there. ``unknown`` if the row was damaged.
    package var incarnation: Int64
    /// The process that delivers; ``nobody`` if none does.
    package var owner: Int64

    package static let nobody: Int64 = 0
    /// No vault has this incarnation.
    package static let unknown: Int64 = 0
    package static let nameLimit = 64
    package static let cursorLimit = 64

    package init(name: String, cursor: String, incarnation: Int64, owner: Int64) {
        self.name = name
        self.cursor = cursor
        self.incarnation = incarnation
        self.owner = owner
    }
}
