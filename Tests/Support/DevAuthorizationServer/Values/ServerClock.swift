import FoundationEssentials
import Synchronization

/// Two readings of one clock.
///
/// Tests want tokens to grow old without waiting, and they want servers whose clock is wrong. These are different
/// things: a DPoP proof made now must pass on a server whose tokens were made to age by an hour.
final class ServerClock: Sendable {
    private struct Offsets {
        var advance: Duration = .zero
        var skew: Duration = .zero
    }

    private let source: @Sendable () -> Date
    private let offsets = Mutex(Offsets())
    /// The last `Date` written: taking a second apart costs more than the rest of a small reply.
    private let date = Mutex<(second: Int64, text: String)?>(nil)

    init(source: @escaping @Sendable () -> Date) {
        self.source = source
    }

    /// The time by which codes, tokens, grace windows and nonces age.
    var age: Moment { offsets.withLock { reading + $0.advance } }

    /// The time that the server believes and shows: `Date`, `iat` of proofs and id tokens.
    var wall: Moment { offsets.withLock { reading + $0.skew } }

    /// The time of `wall` in the form of a `Date` field.
    var httpDate: String {
        let now = wall
        return date.withLock { date in
            if let date, date.second == now.seconds { return date.text }
            let text = now.httpDate
            date = (now.seconds, text)
            return text
        }
    }

    /// What an instant of `age` is on the wall, for `exp` members.
    func wall(of moment: Moment) -> Moment {
        offsets.withLock { moment - $0.advance + $0.skew }
    }

    func advance(by duration: Duration) {
        offsets.withLock { $0.advance += duration }
    }

    func skew(by duration: Duration) {
        offsets.withLock { $0.skew = duration }
    }

    private var reading: Moment { Moment(milliseconds: Int64((source().timeIntervalSince1970 * 1000).rounded())) }
}
