extension AuditEvent.Detail {
    /// The keys of details. They are stored, so never rename them.
    package enum Key {}

    /// The `cause` of a removal that resulted from erasing its user.
    package static let userErased = "userErased"

    /// The `reason` of a login's end, and its value for a lost response.
    package static let endReason = "reason"
    package static let lostResponse = "lostResponse"

    /// The key of a count.
    package static let count = "count"
}

extension AuditEntry {
    /// The value of a detail.
    package func value(_ key: String) -> String? { detail.first { $0.key == key }?.value }
}
