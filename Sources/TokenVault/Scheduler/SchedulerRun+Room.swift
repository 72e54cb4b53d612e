import Synchronization
import VaultStorage

/// How many renewals of one provider may start now.
struct ProviderRoom: Sendable {
    var count: Int
    /// If none: when that may change; nil: when one ends.
    var lookAgainAfter: Duration?
    /// Whether only its rate limit delays it.
    var isRate = false
}

/// The providers' room as determined during one check.
struct Rooms: Sendable {
    private var rooms: [ProviderHandle: ProviderRoom] = [:]

    mutating func room(at provider: ProviderHandle, _ find: () async -> ProviderRoom) async -> ProviderRoom {
        if let known = rooms[provider] { return known }
        let room = await find()
        rooms[provider] = room
        return room
    }

    mutating func take(_ provider: ProviderHandle) {
        rooms[provider]?.count -= 1
    }
}

/// A provider's data for the scheduler, read now and then.
struct KnownProvider: Sendable {
    let limits: ProviderLimiter.Limits?
    let readAt: Duration
}

extension SchedulerRun {
    private static let knownFor = Duration.seconds(5)

    func room(at provider: ProviderHandle, _ uptime: Duration) async -> ProviderRoom {
        if let hold = context.health[provider].pace.hold(uptime: uptime) {
            return ProviderRoom(count: 0, lookAgainAfter: hold)
        }
        // The probe's result decides about the others: they wait for it, and for nothing longer.
        if context.health[provider].breaker.isUnderProbe(now: vault.now) {
            return ProviderRoom(count: 0, lookAgainAfter: .seconds(1))
        }
        let limits = await known(provider)?.limits
        let share = max(1, options.concurrency - options.concurrency / 4)
        let most = min(share, limits?.concurrent ?? .max)
        let count = min(
            most - state.withLock { $0.flights[provider] ?? 0 }, context.health[provider].pace.bound ?? .max)
        guard count > 0 else { return ProviderRoom(count: 0) }
        guard let limits else { return ProviderRoom(count: count) }
        let free = context.limiter.forBackground(provider, limits)
        return ProviderRoom(
            count: min(count, free.count), lookAgainAfter: free.lookAgainAfter, isRate: free.lookAgainAfter != nil)
    }

    /// Nil: it cannot be read, and the renewal will report that.
    func known(_ provider: ProviderHandle) async -> KnownProvider? {
        let uptime = vault.timeSource.uptime()
        if let known = providers.withLock({ $0[provider] }), uptime - known.readAt < Self.knownFor { return known }
        guard let record = try? await vault.store.provider(provider).record else { return nil }
        let known = KnownProvider(limits: record.rateLimits, readAt: uptime)
        providers.withLock { $0[provider] = known }
        return known
    }
}
