import OAuthClient
import VaultCrypto
package import VaultStorage

extension LoginState {
    /// Keeps the provider's answer to a renewal that it refused, and adds status and code to the outcome's audit event.
    /// The trail outlives the login, so only registered codes go there.
    ///
    /// - Parameter isOfTarget: The token of a resource was refused, not the login's own.
    mutating func note(_ answer: ProviderAnswer, at now: Timestamp, isOfTarget: Bool = false) {
        if !isOfTarget { session.lastRefusal = RefusalRecord(answer, at: now) }
        guard let outcome = auditEvents.popLast() else { return }
        let detail = AuditEvent.Detail(AuditEvent.Detail.Key.answer, "\(answer)")
        auditEvents.append(AuditEvent(outcome.kind, outcome.detail + [detail], facts: outcome.facts))
    }
}

extension RefusalRecord {
    init(_ answer: ProviderAnswer, at now: Timestamp) {
        self.init(
            at: now, status: answer.status.map { Int64($0) },
            error: answer.error.map { SecretBytes(utf8: $0.rawValue) },
            message: answer.message.map { SecretBytes(utf8: $0.reveal()) }, failure: answer.failure?.name,
            location: answer.location.map { SecretBytes(utf8: $0) })
    }
}

extension ProviderAnswer {
    package init(_ record: RefusalRecord) {
        self.init(
            status: record.status.map { Int($0) }, error: record.error?.string().flatMap { OAuthErrorCode($0) },
            message: record.message?.string().map { ServerMessage($0) },
            failure: record.failure.flatMap { HTTPTransportError.code(named: $0) },
            location: record.location?.string())
    }
}
