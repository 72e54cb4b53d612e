/// How long rows of the audit trail are kept.
public struct AuditRetention: Sendable, Equatable {
    /// Rows older than this are removed.
    public var age: Duration
    /// This many of the newest rows stay, whatever their age; at least 1 000.
    public var keepingLast: Int64

    /// 90 days.
    public static let standard = AuditRetention(age: .seconds(90 * 86_400))

    public init(age: Duration, keepingLast: Int64 = 1_000) {
        self.age = max(.zero, age)
        self.keepingLast = max(1_000, keepingLast)
    }
}
