import HTTPTypes
import Logging
import OAuthClient
import VaultStorage

extension Renewal {
    /// Keeps an unusable reply, before anything else is done about the doubt that it leaves.
    ///
    /// - Parameter movesOn: Whether the chain takes its next step with it anyway.
    func keep(_ reply: DoubtfulReply, _ claim: RenewalClaim, movesOn: Bool) async {
        let record = UnusableReplyRecord(
            login: login, position: movesOn ? claim.position.successor : claim.position, fence: claim.fence,
            receivedAt: vault.now,
            status: reply.response.status.code, contentType: reply.response.headerFields[.contentType],
            cause: reply.cause, isComplete: reply.isComplete, body: reply.body)
        do {
            try await vault.store.keepUnusableReply(record)
        } catch {
            vault.logger.warning(
                "a reply that could not be used could not be kept either",
                metadata: ["vault-login-handle": "\(login.text)"])
        }
    }
}
