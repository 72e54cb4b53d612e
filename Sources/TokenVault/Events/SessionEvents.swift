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
package struct SessionEvents: AsyncSequence, Sendable {
    package typealias Element = SessionEvent
    package typealias Failure = Never

    private let subscriptions: FeedSubscriptions<SessionEvent>
    private let scope: TenantScope

    /// - Parameter scope: The tenant whose events come, with the names within it.
    init(_ begin: @escaping @Sendable () -> FeedSubscription<SessionEvent>, _ scope: TenantScope) {
        subscriptions = FeedSubscriptions(begin)
        self.scope = scope
    }

    package func makeAsyncIterator() -> Iterator { Iterator(subscription: subscriptions.next(), scope: scope) }

    /// One subscriber.
    package struct Iterator: AsyncIteratorProtocol {
        let subscription: FeedSubscription<SessionEvent>
        let scope: TenantScope

        package mutating func next() async -> SessionEvent? { await next(isolation: nil) }

        package mutating func next(isolation actor: isolated (any Actor)?) async -> SessionEvent? {
            while let event = await subscription.buffer.next() {
                if let event = scope.plain(event) { return event }
            }
            return nil
        }
    }
}
