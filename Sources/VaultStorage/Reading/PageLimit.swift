extension Int {
    /// The number of rows of one page, limited to 0 to 10 000. The value may come from a query string.
    package var asPageLimit: Int { Swift.max(0, Swift.min(self, 10_000)) }
}
