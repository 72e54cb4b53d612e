import Synchronization
import VaultStorage

/// Measures how long ago something was that was noted by the wall clock, although that may have been set since.
///
/// A wall clock that is ahead for a moment makes an hour look like a year, and one that is set back makes a day look
/// like nothing. Neither may end a login or send a token again: what decides about that asks here for both bounds.
package final class SteadyClock: Sendable {
    /// How long something has lasted: `atLeast` by the clock that shows less, `atMost` by the one that shows more.
    package struct Span: Equatable, Sendable {
        var atLeast: Duration
        var atMost: Duration
        /// It began in the future of one of the clocks: how long it has lasted is unknown.
        var isUnknown: Bool { atLeast < .zero }
    }

    private struct Anchor {
        let wall: Timestamp
        let uptime: Duration
    }

    /// A wall clock that shows the same for so long after it was set is taken for right.
    private static let trial = Duration.seconds(86_400)

    private let anchor: Mutex<Anchor>

    init(now: Timestamp, uptime: Duration) {
        anchor = Mutex(Anchor(wall: now, uptime: uptime))
    }

    func span(since: Timestamp, now: Timestamp, uptime: Duration) -> Span {
        let steady = anchor.withLock { anchor in
            let steady = anchor.wall.advanced(by: uptime - anchor.uptime)
            if uptime - anchor.uptime >= Self.trial { anchor = Anchor(wall: now, uptime: uptime) }
            return steady
        }
        let (wall, own) = (now.since(since), steady.since(since))
        return Span(atLeast: min(wall, own), atMost: max(wall, own))
    }
}
