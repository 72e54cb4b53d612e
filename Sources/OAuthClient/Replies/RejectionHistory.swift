/// Unclassified rejections of one login since its last success.
package struct RejectionHistory: Hashable, Sendable {
    package var count: Int
    /// The time since the first of them.
    package var span: Duration
    /// Whether another login of the provider has been renewed since the first of them.
    package var othersSucceeded: Bool

    package init(count: Int, span: Duration, othersSucceeded: Bool = false) {
        self.count = count
        self.span = span
        self.othersSucceeded = othersSucceeded
    }
}
