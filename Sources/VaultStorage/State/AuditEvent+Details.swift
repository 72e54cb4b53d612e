extension AuditEvent.Detail {
    /// Words by which details are named. Stored: never renamed.
    package enum Key {}

    /// The `cause` of a removal that came with the end of its user.
    package static let userErased = "userErased"

    /// The `reason` of a login's end, and that of one of which a reply was lost.
    package static let endReason = "reason"
    package static let lostResponse = "lostResponse"

    /// The key of how many there were.
    package static let count = "count"
}

extension AuditEntry {
    /// The value of a detail.
    package func value(_ key: String) -> String? { detail.first { $0.key == key }?.value }
}
