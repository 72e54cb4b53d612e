import Logging
import OAuthClient
import VaultCrypto
import VaultStorage

/// Asks providers to end grants, and settles the outbox by their answers.
final class Revoker: Sendable {
    private let vault: Vault
    private let channel: ProviderChannel
    private let options: UserManagerOptions
    let underWay = RevocationsUnderWay()

    init(_ vault: Vault, _ channel: ProviderChannel, _ options: UserManagerOptions) {
        self.vault = vault
        self.channel = channel
        self.options = options
    }

    /// Entries of one provider that may fail in a row before the rest is left for later.
    private static let mostSetbacks = 3
    /// Entries read at a time in the background.
    private static let outboxBatch = 256

    /// Asks the providers about entries that were queued a moment ago. An entry that is missing from the result is
    /// gone, and not because of this manager: another process has settled it.
    func revoke(queued records: [OutboxRecord]) async -> [OutboxHandle: RevocationReport.Outcome] {
        await revoke(
            records.map { StoredOutboxEntry(handle: $0.handle, nextAttemptAt: vault.now, attempts: 0, record: $0) })
    }

    /// Tries providers concurrently, and the entries of each one after the other.
    func revoke(_ entries: [StoredOutboxEntry]) async -> [OutboxHandle: RevocationReport.Outcome] {
        let byProvider = Dictionary(grouping: entries, by: \.record.provider)
        return await withTaskGroup { group in
            for (_, entries) in byProvider {
                group.addTask { await self.revokeInTurn(entries) }
            }
            return await group.reduce(into: [:]) { $0.merge($1) { $1 } }
        }
    }

    private func revokeInTurn(_ entries: [StoredOutboxEntry]) async -> [OutboxHandle: RevocationReport.Outcome] {
        var outcomes: [OutboxHandle: RevocationReport.Outcome] = [:]
        var setbacks = 0
        for entry in entries {
            guard setbacks < Self.mostSetbacks, !Task.isCancelled, vault.flightStarted() else {
                outcomes[entry.handle] = .pending(
                    VaultError(.tryLater, "the provider was not asked: earlier revocations did not get through")
                )
                continue
            }
            if let outcome = await revoke(entry) {
                outcomes[entry.handle] = outcome
                if case .pending = outcome { setbacks += 1 } else { setbacks = 0 }
            }
            vault.flightEnded()
        }
        return outcomes
    }

    /// Tries due entries of the outbox, in the background: one pass at a time, and one more for callers that ask during
    /// it.
    func revokeSoon() {
        guard underWay.passWanted() else { return }
        vault.spawn {
            repeat { await self.revokeDue() } while self.underWay.passEnded()
        }
    }

    /// True if that is unknown.
    var hasDueRevocations: Bool {
        get async { (try? await vault.store.dueOutboxEntries(at: vault.now, limit: 1))?.isEmpty != true }
    }

    private func revokeDue() async {
        _ = await revoke((try? await vault.store.dueOutboxEntries(at: vault.now, limit: Self.outboxBatch)) ?? [])
    }

    /// One try for one token. The entry is removed when the provider has confirmed, or has said that it never will, or
    /// when it has been tried for too long. Nil if it is gone, and this process has not ended it.
    ///
    /// A caller that finds a try in progress in this manager shares its result. Two processes may try the same entry at
    /// the same time. That does no harm: the second one learns that the token is invalid, which is just as good (RFC
    /// 7009 §2.2).
    private func revoke(_ entry: StoredOutboxEntry) async -> RevocationReport.Outcome? {
        if case .others(let outcome) = await underWay.begin(entry.handle) { return outcome }
        let outcome = await tryToRevoke(entry)
        underWay.end(entry.handle, outcome)
        return outcome
    }

    private func tryToRevoke(_ entry: StoredOutboxEntry) async -> RevocationReport.Outcome? {
        let current: StoredOutboxEntry
        do throws(StoreError) {
            // It may have been settled, or postponed, since the list was read.
            current = try await vault.store.outboxEntry(entry.handle)
        } catch {
            guard error.code == .notFound(.outboxEntry) else { return .pending(VaultError(error)) }
            return underWay.outcome(of: entry.handle)
        }
        guard current.attempts == entry.attempts else {
            // Another try has just failed: asking again at once would have the same result.
            return .pending(
                VaultError(
                    .tryLater, "the provider has not confirmed the revocation",
                    retryAfter: max(.zero, current.nextAttemptAt.since(vault.now))))
        }
        let provider: ProviderRecord
        do throws(StoreError) {
            provider = try await vault.store.provider(current.record.provider).record
        } catch {
            let isRemoved = error.code == .notFound(.provider)
            let reason =
                isRemoved ? VaultError(.unknownProvider, "its provider was removed from the vault") : VaultError(error)
            return await settle(current, .pending(reason), retryAfter: nil, nonces: [:])
        }
        if RevocationStyle(provider).endsOtherChains, await livesOn(current.record) {
            return await settle(current, .nothingToRevoke, retryAfter: nil, nonces: [:])
        }
        let recorder = channel.recorder(of: .revoke)
        let result = await ask(current.record, provider, over: recorder)
        let outcome = await settle(
            current, result.outcome, retryAfter: result.retryAfter, nonces: result.nonces)
        recorder?.announce()
        return outcome
    }

    /// Whether another chain has replaced this one, and would end with it.
    private func livesOn(_ record: OutboxRecord) async -> Bool {
        guard let login = record.login, let stored = try? await vault.store.login(login) else { return false }
        return stored.provider == record.provider && stored.isLiving
    }

    /// The result of one request.
    struct Answer: Sendable {
        let outcome: RevocationReport.Outcome
        var retryAfter: Duration?
        var nonces: [String: DPoPNonce] = [:]
    }

    func ask(_ record: OutboxRecord, _ provider: ProviderRecord, over recorder: ResponseRecorder? = nil) async -> Answer
    {
        guard let binding = try? ServerBinding(provider, for: record.attributes), let token = RevocableToken(record)
        else {
            return Answer(
                outcome: .pending(
                    VaultError(.providerMisconfigured, "the stored data of this revocation cannot be sent")))
        }
        let endpoint = RevocationEndpoint(
            endpoint: provider.revocationEndpoint.flatMap { try? EndpointURL(stored: $0, for: record.attributes) },
            binding: binding,
            transport: recorder ?? channel.transport, now: vault.wallClock)
        let attempt = await endpoint.revoke(
            token, dpop: record.dpopPrivateKey.flatMap { DPoPContext(privateKey: $0, nonces: record.nonces) })
        switch attempt.outcome {
        case .revoked:
            return Answer(outcome: .revoked)
        case .unsupported, .unsupportedTokenType:
            return Answer(outcome: .unsupported)
        case .tryLater(let retryAfter):
            return Answer(
                outcome: .pending(
                    VaultError(
                        .tryLater, "the provider has not confirmed the revocation", retryAfter: retryAfter)),
                retryAfter: retryAfter, nonces: attempt.nonces)
        case .misconfigured:
            return Answer(
                outcome: .pending(
                    VaultError(
                        .providerMisconfigured, "the provider refused this client, and the revocation with it",
                        hint: "check the client id, its secret and the endpoints of the provider")),
                nonces: attempt.nonces)
        }
    }

    /// Records the result of a try: the tokens and the key are removed with the entry.
    private func settle(
        _ entry: StoredOutboxEntry, _ outcome: RevocationReport.Outcome, retryAfter: Duration?,
        nonces: [String: DPoPNonce]
    ) async -> RevocationReport.Outcome {
        var outcome = outcome
        let resolution: OutboxResolution
        switch outcome {
        case .revoked: resolution = .done
        case .nothingToRevoke: resolution = .superseded
        case .unsupported: resolution = .abandoned
        case .pending, .givenUp, .unreadable, .ownedBySource:
            if vault.now.since(entry.record.createdAt) >= options.revocationLifetime {
                resolution = .expired
                outcome = .givenUp
            } else {
                let pause = Backoff.revocation.pause(
                    afterFailures: entry.attempts + 1, retryAfter: retryAfter, random: options.random())
                resolution = .retry(at: vault.now.advanced(by: pause), nonces: nonces.mapValues(\.rawValue))
            }
        }
        do {
            try await vault.store.resolveOutbox(entry.handle, resolution)
        } catch {
            // The entry stays, so the worst is that a token is revoked twice; or another process has finished it.
            vault.logger.debug(
                "a revocation could not be recorded", metadata: ["vault-outbox-handle": "\(entry.handle.text)"])
        }
        return outcome
    }
}

extension RevocableToken {
    init?(_ record: OutboxRecord) {
        if let text = record.refreshToken?.string(), let token = try? RefreshToken(received: text) {
            self = .refresh(token)
        } else if let token = record.accessToken.flatMap({ AccessToken(stored: $0) }) {
            self = .access(token)
        } else {
            return nil
        }
    }
}
