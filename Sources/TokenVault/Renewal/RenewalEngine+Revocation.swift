import Logging
import OAuthClient
import VaultCrypto
import VaultStorage

extension RenewalEngine {
    /// How many outbox entries one pass looks at.
    private static let outboxBatch = 1_000

    /// Asks the providers about the outbox entries of these logins, now.
    func revoke(logins: Set<LoginHandle>) async -> [LoginHandle: RevocationReport.Outcome] {
        guard !logins.isEmpty else { return [:] }
        var outcomes: [LoginHandle: RevocationReport.Outcome] = [:]
        do {
            let entries = try vault.store.outboxEntries(limit: Self.outboxBatch)
            for entry in entries {
                guard let login = entry.record.login, logins.contains(login) else { continue }
                outcomes[login] = await revoke(entry)
            }
        } catch {
            for login in logins where outcomes[login] == nil { outcomes[login] = .pending(VaultError(error)) }
        }
        return outcomes
    }

    /// Works on what is due in the outbox, behind everybody's back: late tokens of logins that are over.
    func revokeSoon() {
        guard vault.flightStarted() else { return }
        Task {
            let now = self.vault.now
            let due = (try? self.vault.store.outboxEntries(limit: Self.outboxBatch)) ?? []
            for entry in due where entry.nextAttemptAt <= now { _ = await self.revoke(entry) }
            self.vault.flightEnded()
        }
    }

    /// One try for one token. The entry goes when the provider has confirmed, or has said that it never will.
    private func revoke(_ entry: StoredOutboxEntry) async -> RevocationReport.Outcome {
        let record = entry.record
        guard let provider = try? vault.store.provider(record.provider).record,
            let binding = try? ServerBinding(provider), let token = RevocableToken(record)
        else {
            return await resolve(
                entry, .retry(at: later(entry, nil)), .pending(VaultError(.providerMissing, now: vault.now)))
        }
        let endpoint = RevocationEndpoint(
            endpoint: provider.revocationEndpoint.flatMap { try? EndpointURL(stored: $0) }, binding: binding,
            transport: transport, now: vault.wallClock)
        let attempt = await endpoint.revoke(
            token, dpop: record.dpopPrivateKey.flatMap { DPoPContext(privateKey: $0, nonces: record.nonces) })
        switch attempt.outcome {
        case .revoked:
            return await resolve(entry, .done, .revoked)
        case .unsupported, .unsupportedTokenType:
            return await resolve(entry, .abandoned, .unsupported)
        case .tryLater(let retryAfter):
            let error = VaultError(.tryLater, "the provider has not confirmed the revocation", retryAfter: retryAfter)
            return await resolve(entry, .retry(at: later(entry, retryAfter)), .pending(error))
        case .misconfigured:
            let error = VaultError(
                .providerMisconfigured, "the provider refused this client, and the revocation with it",
                hint: "check the client id, its secret and the endpoints of the provider")
            return await resolve(entry, .retry(at: later(entry, nil)), .pending(error))
        }
    }

    private func later(_ entry: StoredOutboxEntry, _ retryAfter: Duration?) -> Timestamp {
        let pause = Backoff.revocation.pause(
            afterFailures: entry.attempts + 1, retryAfter: retryAfter, random: random())
        return vault.now.advanced(by: pause)
    }

    private func resolve(
        _ entry: StoredOutboxEntry, _ resolution: OutboxResolution, _ outcome: RevocationReport.Outcome
    ) async -> RevocationReport.Outcome {
        do {
            try await vault.store.resolveOutbox(entry.handle, resolution)
        } catch {
            // The entry stays, so the worst is that a token is revoked twice.
            vault.logger.debug(
                "a revocation could not be noted", metadata: ["vault-outbox-handle": "\(entry.handle.text)"])
        }
        return outcome
    }
}

extension RevocableToken {
    init?(_ record: OutboxRecord) {
        if let text = record.refreshToken?.string(), let token = try? RefreshToken(text) {
            self = .refresh(token)
        } else if let text = record.accessToken?.string(), let token = try? AccessToken(text) {
            self = .access(token)
        } else {
            return nil
        }
    }
}
