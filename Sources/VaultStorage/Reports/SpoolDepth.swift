/// The content of the spool, of all processes together.
package struct SpoolDepth: Equatable, Sendable {
    package var files = 0
    package var bytes = 0
    /// Whole entries.
    package var entries = 0
    /// Entries and files that cannot be read. The entries that a living process is writing do not count.
    package var damaged = 0

    package init() {}
}
