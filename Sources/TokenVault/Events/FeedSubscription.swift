import Synchronization
import VaultStorage

/// A subscriber's end of the feed. It lasts as long as it is held.
final class FeedSubscription<Element: Sendable>: Sendable {
    let buffer: EventBuffer<Element>
    private let feed: SessionFeed
    private let place: FeedPlace

    /// - Parameter begin: Returns the subscriber's number; nil where no event will come. If the engine reads without
    ///   waiting, it has run when this initializer returns; otherwise changes by this process wait for it.
    init(
        _ buffer: EventBuffer<Element>, _ feed: SessionFeed, _ begin: @escaping @Sendable () async -> Int?
    ) {
        self.buffer = buffer
        self.feed = feed
        let place = FeedPlace()
        self.place = place
        let arrivals = feed.store.changes.arrivals
        let arrival = arrivals.announce()
        _ = Task.immediate {
            let number = await begin()
            defer { arrivals.end(arrival) }
            if number == nil { buffer.finish() }
            if let number, !place.take(number) { feed.remove(number) }
        }
    }

    deinit {
        if let number = place.leave() { feed.remove(number) }
    }
}

/// Whether a subscriber has been entered in the feed, and whether it still wants to be.
private final class FeedPlace: Sendable {
    private enum State {
        case pending, taken(Int), left
    }

    private let state = Mutex(State.pending)

    /// False if the subscriber has gone meanwhile.
    func take(_ number: Int) -> Bool {
        state.withLock { state in
            guard case .pending = state else { return false }
            state = .taken(number)
            return true
        }
    }

    func leave() -> Int? {
        state.withLock { state in
            defer { state = .left }
            return if case .taken(let number) = state { number } else { nil }
        }
    }
}

/// Subscriptions of one sequence. The first iterator gets the one that began with the sequence.
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
