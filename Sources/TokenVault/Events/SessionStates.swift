/// The state of one login, or of a user: the current one first, then each change, none twice in a row.
///
/// Each iterator is a subscriber of its own. One that fetches too slowly misses states in between, never the newest.
/// The sequence ends when the task is cancelled and when the vault is closed.
package struct SessionStates: AsyncSequence, Sendable {
    package typealias Element = SessionState
    package typealias Failure = Never

    private let subscriptions: FeedSubscriptions<SessionState>
    private let isVisible: @Sendable () async -> Bool

    /// - Parameter isVisible: Whether the subscriber may see this session. One that it may not see looks like one that does
    ///   not exist.
    init(
        _ begin: @escaping @Sendable () -> FeedSubscription<SessionState>,
        isVisible: @escaping @Sendable () async -> Bool
    ) {
        subscriptions = FeedSubscriptions(begin)
        self.isVisible = isVisible
    }

    package func makeAsyncIterator() -> Iterator { Iterator(subscription: subscriptions.next(), isVisible: isVisible) }

    /// One subscriber.
    package struct Iterator: AsyncIteratorProtocol {
        let subscription: FeedSubscription<SessionState>
        let isVisible: @Sendable () async -> Bool
        var isOver: Bool?

        package mutating func next() async -> SessionState? { await next(isolation: nil) }

        package mutating func next(isolation actor: isolated (any Actor)?) async -> SessionState? {
            if isOver == nil {
                isOver = await !isVisible()
                if isOver == true { return .notLoggedIn }
            }
            return isOver == true ? nil : await subscription.buffer.next()
        }
    }
}
