import Synchronization
import VaultStorage

/// Measures the time since an instant that was recorded by the wall clock, although that may have been set since.
///
/// A wall clock that is ahead for a moment makes an hour look like a year, and one that is set back makes a day look
/// like nothing. Neither may end a login or send a token again: decisions about that use both bounds from here.
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

    /// A wall clock that keeps its setting for this long is assumed to be right.
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
