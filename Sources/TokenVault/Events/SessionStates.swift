/// The state of one login, or of a user: the current one first, then each change, none twice in a row.
///
/// Each iterator is a subscriber of its own. One that fetches too slowly misses states in between, never the newest.
/// The sequence ends when the task is cancelled and when the vault is closed.
public struct SessionStates: AsyncSequence, Sendable {
    public typealias Element = SessionState
    public typealias Failure = Never

    private let subscriptions: FeedSubscriptions<SessionState>

    init(_ begin: @escaping @Sendable () -> FeedSubscription<SessionState>) {
        subscriptions = FeedSubscriptions(begin)
    }

    public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscriptions.next()) }

    /// One subscriber.
    public struct Iterator: AsyncIteratorProtocol {
        let subscription: FeedSubscription<SessionState>

        public mutating func next() async -> SessionState? { await subscription.buffer.next() }

        public mutating func next(isolation actor: isolated (any Actor)?) async -> SessionState? {
            await subscription.buffer.next()
        }
    }
}
