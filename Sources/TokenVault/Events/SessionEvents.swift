/// The events of one login, one user, or all of them, from the moment at which the sequence is made.
///
/// Each iterator is a subscriber of its own and gets every event. Events of one login come in the order in which they
/// happened. The sequence ends when the task is cancelled and when the vault is closed. A subscriber who does not fetch
/// slows nothing down; when his buffer is full, what he does not get is counted and told as
/// ``SessionEvent/Kind/missed(count:)``.
///
/// Of a login, and of the logins of a user, what had come due before is told first: for a token with less than three
/// minutes left `willExpire`, for one that has run out `willExpire` and `expired`.
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

        public mutating func next() async -> SessionEvent? { await subscription.mailbox.next() }

        public mutating func next(isolation actor: isolated (any Actor)?) async -> SessionEvent? {
            await subscription.mailbox.next()
        }
    }
}
