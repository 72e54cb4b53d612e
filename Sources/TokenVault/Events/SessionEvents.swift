/// The events of one login, one user, or all of them, from the moment at which the sequence is made.
///
/// With a vault on a server, that moment is when the server has answered. A change that this process makes after
/// creating the sequence waits for it, and is reported; a change by another process in the meantime counts as earlier.
///
/// Each iterator is a subscriber of its own and gets every event. Events of one login come in the order in which they
/// happened. The sequence ends when the task is cancelled and when the vault is closed. A subscriber that does not
/// fetch slows nothing down; when its buffer is full, further events are counted and reported as
/// ``SessionEvent/Kind/missed(count:)``.
///
/// For one login, or the logins of one user, the events already due come first: for a token with less than three
/// minutes left `willExpire`, for an expired one `willExpire` and `expired`.
public struct SessionEvents: AsyncSequence, Sendable {
    public typealias Element = SessionEvent
    public typealias Failure = Never

    private let subscriptions: FeedSubscriptions<SessionEvent>

    init(_ begin: @escaping @Sendable () -> FeedSubscription<SessionEvent>) {
        subscriptions = FeedSubscriptions(begin)
    }

    public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscriptions.next()) }

    /// One subscriber.
    public struct Iterator: AsyncIteratorProtocol {
        let subscription: FeedSubscription<SessionEvent>

        public mutating func next() async -> SessionEvent? { await subscription.buffer.next() }

        public mutating func next(isolation actor: isolated (any Actor)?) async -> SessionEvent? {
            await subscription.buffer.next()
        }
    }
}
