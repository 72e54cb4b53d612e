import Synchronization

/// A subscriber's end of the feed. It lasts as long as it is held.
final class FeedSubscription<Element: Sendable>: Sendable {
    let buffer: EventBuffer<Element>
    private let feed: SessionFeed
    private let number: Int?

    /// - Parameter number: Nil where there is nothing to come.
    init(_ buffer: EventBuffer<Element>, _ feed: SessionFeed, _ number: Int?) {
        self.buffer = buffer
        self.feed = feed
        self.number = number
        if number == nil { buffer.finish() }
    }

    deinit {
        if let number { feed.remove(number) }
    }
}

/// Subscriptions of one sequence: the one that began with the sequence is the first iterator's.
struct FeedSubscriptions<Element: Sendable>: Sendable {
    private final class First: Sendable {
        let subscription: Mutex<FeedSubscription<Element>?>

        init(_ subscription: FeedSubscription<Element>) {
            self.subscription = Mutex(subscription)
        }
    }

    private let first: First
    private let begin: @Sendable () -> FeedSubscription<Element>

    init(_ begin: @escaping @Sendable () -> FeedSubscription<Element>) {
        first = First(begin())
        self.begin = begin
    }

    func next() -> FeedSubscription<Element> {
        first.subscription.withLock { $0.take() } ?? begin()
    }
}
