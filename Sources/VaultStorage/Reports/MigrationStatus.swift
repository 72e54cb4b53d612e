/// One step of the schema's history, and whether this vault has taken it.
package struct MigrationStep: Equatable, Sendable {
    package let version: Int
    package let name: String
    /// `nil` while it is pending.
    package let appliedAt: Timestamp?
}
