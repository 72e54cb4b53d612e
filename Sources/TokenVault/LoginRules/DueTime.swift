import VaultCrypto
package import VaultStorage

/// When a login next needs the scheduler. Pure, and the same for every process: it depends only on stored data.
///
/// Every write of a login leaves its result in `dueAt`, see ``Vault/change(_:_:)``.
struct DueTime: Sendable {
    /// A refresh token that expires without use is used this long before, or a fifth of its life before, whichever is
    /// later …
    static let usualKeepAliveLead = Duration.seconds(7 * 86_400)
    /// … but not where that is less than this: a deadline that use does not extend would come due again and again.
    static let leastKeepAliveLead = Duration.seconds(60)

    /// A request whose sender gave up or died arrives within this time, or hardly at all: after a timeout at its sender
    /// (30 s by default) and in the network between.
    private static let latestArrival = Duration.seconds(60).inMilliseconds

    /// Nil: there is nothing to do, or no way to do it.
    let instant: Timestamp?

    /// - Parameter isInDoubt: Recovery owns such logins, and this value comes back when it is done with one.
    init(
        login: LoginHandle, position: ChainPosition, session: SessionRecord, refresh: RefreshRecord?,
        provider: ProviderHandle?, isInDoubt: Bool
    ) {
        if session.isEndedAndKept(refresh) {
            // At that time the kept refresh token is destroyed.
            instant = session.notBefore
            return
        }
        guard session.state != .terminated, session.failure == nil, !isInDoubt, !session.isHeldBySource
        else {
            instant = nil
            return
        }
        let spread = Spread(login: login, generation: position.generation)
        // Without a refresh token a handler renews. It does not matter whether this process has one: another may.
        var first = Self.renewal(session, position, spread)
        if let refresh, refresh.refreshToken != nil, provider != nil,
            let keepAlive = Self.keepAlive(session, refresh, spread)
        {
            first = min(first ?? keepAlive, keepAlive)
        }
        instant = first.map { max($0, session.notBefore ?? $0) }
    }

    /// Before callers would renew, so that none of them has to wait; not all logins at once.
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

    /// An earlier request with the refresh token before this one may still arrive. A server that forgives that does so
    /// as long as this token is unused; once it is used, the earlier one looks like theft. So this token rests, but no
    /// longer than until callers would renew anyway.
    private static func afterLateArrivals(
        _ session: SessionRecord, _ expiresAt: Timestamp, _ lead: Int64
    ) -> Timestamp {
        min(
            session.obtainedAt.advanced(byMilliseconds: latestArrival),
            expiresAt.advanced(byMilliseconds: -lead)
        ).roundedDown(to: grain(in: lead))
    }

    /// An instant in the span that ends `lead` before `end`, rounded down: unrounded, the instant, which is stored in
    /// plain text, would reveal the end to the millisecond. Its position in the span is known: it follows from the
    /// login's handle. In milliseconds: each write of a login computes this, and a `Duration` has 128 bits.
    private static func before(
        _ end: Timestamp, by lead: Int64, spreadOver span: Int64, _ spread: Spread
    ) -> Timestamp {
        let grain = grain(in: span)
        return end.advanced(byMilliseconds: -lead - spread.part(of: span - grain)).roundedDown(to: grain)
    }

    /// A minute, as for the stored expiry; less only for spans that are too short for it.
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

    /// The login's position in a span of time, at this generation: the same in every process and at any time.
    private struct Spread {
        private let fraction: Double

        init(login: LoginHandle, generation: Int64) {
            // FNV-1a, and a final mix: neighbours in one must not be neighbours in the other.
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
    /// Whether a login with this due time must be renewed, or would have to be if no clock had been set.
    func isDue(_ due: Timestamp, now: Timestamp) -> Bool {
        due <= now || isFromFuture || !isEnough(for: .validity(nil))
    }
}

extension LoginRow {
    /// The value for ``dueAt``.
    package var nextDue: Timestamp? {
        guard userStatus == .active else { return nil }
        return DueTime(
            login: handle, position: position, session: session, refresh: refresh, provider: provider,
            isInDoubt: intent?.isInDoubt ?? false
        ).instant
    }
}

extension LoginState {
    /// Tokens that came after a doubt are in use: an end from now on is an end, not the trace of a lost reply.
    ///
    /// Where the tokens live so briefly that they have to rest (see ``DueTime``), the next renewal comes within moments,
    /// and says the same.
    mutating func healDoubt() {
        guard session.cameAfterDoubt else { return }
        let due = nextDue
        session.cameAfterDoubt = false
        if nextDue != due { session.cameAfterDoubt = true }
    }
}
