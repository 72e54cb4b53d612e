/// How long rows of the audit trail are kept.
package struct AuditRetention: Sendable, Equatable {
    /// Rows older than this are removed.
    package var age: Duration
    /// This many of the newest rows stay, whatever their age; at least 1 000.
    package var keepingLast: Int64

    /// 90 days.
    package static let standard = AuditRetention(age: .seconds(90 * 86_400))

    package init(age: Duration, keepingLast: Int64 = 1_000) {
        self.age = max(.zero, age)
        self.keepingLast = max(1_000, keepingLast)
    }
}
