extension Int {
    /// As a number of rows of one page: 0 to 10 000. It may come from a query string.
    package var asPageLimit: Int { Swift.max(0, Swift.min(self, 10_000)) }
}
