import OAuthClient
import Synchronization
import VaultStorage

/// Access tokens of the clients themselves, in memory: each is fetched once for any number of callers, and again before
/// it expires. See docs/adr/0066.
final class ClientTokens: Sendable {
    /// The state of one kind of token.
    private struct Entry: Sendable {
        var token: ClientToken?
        /// An API refused it.
        var isRejected = false
        var failures = 0
        /// Why the last fetch failed, and until when it is not retried, by the clock that is never set.
        var obstacle: (error: VaultError, until: Duration)?

        var usable: ClientToken? { isRejected ? nil : token }
    }

    private struct State {
        /// Room for as many kinds of tokens as a service uses; older ones are fetched again.
        var entries = RecentTable<ClientTokenKey, Entry>(capacity: 1_024)
        var flights: [ClientTokenKey: ClientTokenFlight] = [:]
        /// One per client. In memory, because a token that is bound to a lost key is fetched again.
        var keys: [ProviderHandle: DPoPContext] = [:]
        var generation = 0
    }

    private enum Look {
        case token(ClientToken)
        case flight(ClientTokenFlight, isNew: Bool)
        case refused(VaultError)
    }

    private let context: RenewalContext
    private let state = Mutex(State())

    init(_ context: RenewalContext) {
        self.context = context
    }

    private var vault: Vault { context.vault }

    /// The demand for a token newer than the latest one.
    func demandForNewer(_ key: ClientTokenKey) -> RenewalDemand {
        state.withLock { .newer(than: Int64($0.entries[key]?.token?.generation ?? 0)) }
    }

    /// A token that meets the demand, fetched if necessary; or the old one, if it is still acceptable.
    func token(
        _ key: ClientTokenKey, of provider: StoredProvider, _ demand: RenewalDemand, deadline: Duration?
    ) async throws -> ClientToken {
        let holdsVault = vault.flightStarted()
        defer { if holdsVault { vault.flightEnded() } }
        switch look(key, demand) {
        case .token(let token): return token
        case .refused(let error): throw error
        case .flight(let flight, let isNew):
            if isNew { start(flight, key, provider) }
            let wait = await vault.working { await flight.wait(within: deadline, vault.timeSource) }
            switch wait {
            case .token(let token): return token
            case .cancelled: throw CancellationError()
            case .failed(let error):
                guard let token = acceptable(key, demand) else { throw error }
                return token
            case .deadlinePassed:
                guard let token = acceptable(key, demand) else {
                    throw VaultError(
                        .deadlineExceeded, "the provider took longer than the caller wanted to wait for a token")
                }
                return token
            }
        }
    }

    /// The token at hand, if it is good for long enough.
    func validToken(_ key: ClientTokenKey, _ demand: RenewalDemand) -> ClientToken? {
        let (now, setBack) = (vault.now, vault.clock.setBack)
        return state.withLock { state in
            guard let token = state.entries[key]?.usable, token.classifier(now, setBack).isEnough(for: demand) else {
                return nil
            }
            return token
        }
    }

    /// Takes a token out of use. False if it already was, or has been replaced.
    func reject(_ token: ClientToken) -> Bool {
        state.withLock { state in
            guard var entry = state.entries[token.key], entry.token?.generation == token.generation, !entry.isRejected
            else { return false }
            entry.isRejected = true
            state.entries.insert(entry, for: token.key)
            return true
        }
    }

    private func look(_ key: ClientTokenKey, _ demand: RenewalDemand) -> Look {
        let (now, setBack, uptime) = (vault.now, vault.clock.setBack, vault.timeSource.uptime())
        return state.withLock { state in
            let entry = state.entries[key]
            let token = entry?.usable
            let classifier = token?.classifier(now, setBack)
            if let token, classifier?.isEnough(for: demand) == true { return .token(token) }
            if let flight = state.flights[key] { return .flight(flight, isNew: false) }
            if let obstacle = entry?.obstacle, obstacle.until > uptime {
                if let token, classifier?.isAcceptable(for: demand) == true { return .token(token) }
                return .refused(obstacle.error.retrying(after: obstacle.until - uptime))
            }
            let flight = ClientTokenFlight()
            state.flights[key] = flight
            return .flight(flight, isNew: true)
        }
    }

    private func acceptable(_ key: ClientTokenKey, _ demand: RenewalDemand) -> ClientToken? {
        let (now, setBack) = (vault.now, vault.clock.setBack)
        return state.withLock { state in
            guard let token = state.entries[key]?.usable, token.classifier(now, setBack).isAcceptable(for: demand)
            else {
                return nil
            }
            return token
        }
    }

    private func start(_ flight: ClientTokenFlight, _ key: ClientTokenKey, _ provider: StoredProvider) {
        guard vault.flightStarted() else {
            state.withLock { $0.flights[key] = nil }
            return flight.end(.failed(VaultError(.closed, now: vault.now)))
        }
        // It belongs to no caller, so no caller's cancellation reaches it.
        vault.spawn {
            let end = await self.fetch(key, provider)
            flight.end(end)
            self.vault.flightEnded()
        }
    }

    /// Fetches a token, and takes the flight out of the table in the step that puts the token in.
    private func fetch(_ key: ClientTokenKey, _ provider: StoredProvider) async -> ClientTokenFlight.Wait {
        let proof = key.isBound ? context(of: provider) : nil
        let result = await ClientTokenFetch(context: context, key: key, provider: provider).run(proof)
        context.metrics.fetched(result.outcome, provider: provider.record.name)
        let (uptime, random) = (vault.timeSource.uptime(), context.random())
        return state.withLock { state in
            state.flights[key] = nil
            state.keys[provider.handle]?.nonces.merge(result.nonces) { $1 }
            var entry = state.entries[key] ?? Entry()
            defer { state.entries.insert(entry, for: key) }
            switch result.end {
            case .issued(let issued, let startedAt):
                state.generation += 1
                let token = ClientToken(
                    issued, startedAt, key, provider.record.name, generation: state.generation, dpopKey: proof?.key)
                entry = Entry(token: token)
                return .token(token)
            case .failed(let error, let pause):
                entry.failures += 1
                let pause = pause(afterFailures: entry.failures, retryAfter: error.retryAfter, random: random)
                entry.obstacle = (error, uptime + pause)
                return .failed(error)
            }
        }
    }

    private func context(of provider: StoredProvider) -> DPoPContext {
        let offset = context.health[provider.handle].clockOffset
        return state.withLock { state in
            var known = state.keys[provider.handle] ?? DPoPContext(key: .generate())
            known.clockOffset = offset
            state.keys[provider.handle] = known
            return known
        }
    }
}

extension ClientToken {
    fileprivate func classifier(_ now: Timestamp, _ setBack: ClockWatch.SetBack?) -> TokenClassifier {
        TokenClassifier(
            TokenTimes(
                generation: Int64(generation), obtainedAt: obtainedAt, expiresAt: expiresAt.map { Timestamp($0) }),
            now: now, setBack: setBack)
    }

    fileprivate init(
        _ issued: IssuedTokens, _ startedAt: Timestamp, _ key: ClientTokenKey, _ provider: String, generation: Int,
        dpopKey: DPoPKey?
    ) {
        let expiresAt = issued.expiresIn.map { startedAt.advanced(by: $0) }
        self.init(
            accessToken: issued.accessToken, tokenType: issued.tokenType, expiresAt: expiresAt?.date,
            expirySource: ExpirySource(expiresAt, isAssumed: issued.isLifetimeAssumed),
            scope: issued.scope ?? Scope(stored: key.target.scope), provider: provider, generation: generation,
            key: key, obtainedAt: startedAt, dpopKey: issued.tokenType == .dpop ? dpopKey : nil)
    }
}

extension VaultError {
    /// The same error, with the rest of the pause as its retry time.
    fileprivate func retrying(after pause: Duration) -> VaultError {
        VaultError(code, message, hint: hint, logins: logins, retryAfter: pause, answer: answer)
    }
}
