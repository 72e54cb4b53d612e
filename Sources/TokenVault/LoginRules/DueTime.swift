import VaultCrypto
package import VaultStorage

/// When a login needs the scheduler next. Pure, and the same for every process: it depends on what is stored alone.
///
/// Every write of a login leaves its result in `dueAt`, see ``Vault/change(_:_:)``.
struct DueTime: Sendable {
    /// A refresh token that dies of disuse is used so long before, or a fifth of its life before, whichever is later …
    static let usualKeepAliveLead = Duration.seconds(7 * 86_400)
    /// … but not where that is less than this: a deadline that no use moves would be met again and again.
    static let leastKeepAliveLead = Duration.seconds(60)

    /// A request whose sender gave it up or died arrives within this time, or hardly at all: after a timeout at its sender
    /// (30 s by default) and at what lies between.
    private static let latestArrival = Duration.seconds(60).inMilliseconds

    /// Nil: there is nothing to do, or no way to do it.
    let instant: Timestamp?

    /// - Parameter isInDoubt: Recovery owns such logins, and this value comes back when it is done with one.
    init(
        login: LoginHandle, position: ChainPosition, session: SessionRecord, refresh: RefreshRecord?,
        provider: ProviderHandle?, isInDoubt: Bool
    ) {
        if session.isEndedAndKept(refresh) {
            // Then what is kept is destroyed.
            instant = session.notBefore
            return
        }
        guard session.state != .terminated, session.failure == nil, !isInDoubt, !session.isHeldBySource
        else {
            instant = nil
            return
        }
        let spread = Spread(login: login, generation: position.generation)
        // Without a refresh token a handler renews. Whether this process has one does not count: another may.
        var first = Self.renewal(session, position, spread)
        if let refresh, refresh.refreshToken != nil, provider != nil,
            let keepAlive = Self.keepAlive(session, refresh, spread)
        {
            first = min(first ?? keepAlive, keepAlive)
        }
        instant = first.map { max($0, session.notBefore ?? $0) }
    }

    /// Before the lead at which callers renew begins, so that none of them meets it; not all logins at once.
    ///
    /// Tokens for single resources do not count: they are renewed when asked for.
    private static func renewal(_ session: SessionRecord, _ position: ChainPosition, _ spread: Spread) -> Timestamp? {
        let generation = session.accessGeneration ?? position.generation
        guard session.accessToken != nil, session.rejectedGeneration != generation else { return session.obtainedAt }
        guard let expiresAt = session.expiresAt else { return nil }
        let lead = TokenClassifier.lead(ofMilliseconds: max(0, expiresAt.milliseconds(since: session.obtainedAt)))
        let due = before(expiresAt, by: lead, spreadOver: lead, spread)
        return session.cameAfterDoubt ? max(due, afterLateArrivals(session, expiresAt, lead)) : due
    }

    /// An earlier request with the refresh token before this one may still arrive. A server that forgives it does so as long
    /// as this one is unused; used, it makes the earlier one look like theft. So this one rests, but no longer than until
    /// callers would renew anyway.
    private static func afterLateArrivals(
        _ session: SessionRecord, _ expiresAt: Timestamp, _ lead: Int64
    ) -> Timestamp {
        min(
            session.obtainedAt.advanced(byMilliseconds: latestArrival),
            expiresAt.advanced(byMilliseconds: -lead)
        ).roundedDown(to: grain(in: lead))
    }

    /// Somewhere in the span of time that ends `lead` before `end`, and rounded down: unrounded, the instant, which is
    /// stored in plain text, would reveal the end to the millisecond. Its place in the span is known: it follows from
    /// the login's handle. In milliseconds: each write of a login counts this out, and a `Duration` has 128 bits.
    private static func before(
        _ end: Timestamp, by lead: Int64, spreadOver span: Int64, _ spread: Spread
    ) -> Timestamp {
        let grain = grain(in: span)
        return end.advanced(byMilliseconds: -lead - spread.part(of: span - grain)).roundedDown(to: grain)
    }

    /// A minute, as the stored expiry; less only where there is no minute to give away.
    private static func grain(in span: Int64) -> Int64 {
        if span >= 5 * 60_000 { return 60_000 }
        return span >= 5 * 10_000 ? 10_000 : min(1_000, span)
    }

    private static func keepAlive(_ session: SessionRecord, _ refresh: RefreshRecord, _ spread: Spread) -> Timestamp? {
        guard let end = refresh.refreshExpiresAt else { return nil }
        let lastUse = session.resourceTokens.map(\.obtainedAt).reduce(session.obtainedAt, max)
        let lead = min(usualKeepAliveLead, end.since(lastUse) / 5)
        guard lead >= leastKeepAliveLead else { return nil }
        return before(end, by: lead.inMilliseconds, spreadOver: lead.inMilliseconds / 2, spread)
    }

    /// Where in a span of time this login stands, at this generation: the same wherever and whenever it is asked.
    private struct Spread {
        private let fraction: Double

        init(login: LoginHandle, generation: Int64) {
            // FNV-1a, and a last stir: neighbours in one must not be neighbours in the other.
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325
            for byte in login.bytes.array { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
            for shift in stride(from: 0, to: 64, by: 8) {
                hash = (hash ^ UInt64(UInt8(truncatingIfNeeded: generation >> shift))) &* 0x0000_0100_0000_01B3
            }
            hash = (hash ^ (hash >> 33)) &* 0xFF51_AFD7_ED55_8CCD
            fraction = Double((hash ^ (hash >> 33)) >> 11) / Double(1 << 53)
        }

        func part(of span: Int64) -> Int64 { Int64(Double(span) * fraction) }
    }
}

extension Timestamp {
    fileprivate func roundedDown(to grain: Int64) -> Timestamp {
        let step = max(1, grain)
        let rest = milliseconds % step
        return Timestamp(milliseconds: milliseconds - (rest < 0 ? rest + step : rest))
    }
}

extension TokenClassifier {
    /// Whether a login is to be renewed that is due then, or would be, had no clock been set.
    func isDue(_ due: Timestamp, now: Timestamp) -> Bool {
        due <= now || isFromFuture || !isEnough(for: .validity(nil))
    }
}

extension LoginRow {
    /// What ``dueAt`` is to be.
    package var nextDue: Timestamp? {
        guard userStatus == .active else { return nil }
        return DueTime(
            login: handle, position: position, session: session, refresh: refresh, provider: provider,
            isInDoubt: intent?.isInDoubt ?? false
        ).instant
    }
}
