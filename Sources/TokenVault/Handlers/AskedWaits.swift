import Synchronization
import VaultStorage

/// Which handlers, while their answer is awaited, wait for renewals of other logins.
///
/// A handler for one login may ask for the token of another, whose handler may ask for the first one's: each would wait
/// for the other. A call that would close such a ring is refused. Rings through other processes are not seen; a
/// handler's time limit ends them.
final class AskedWaits: Sendable {
    private struct Wait {
        let asked: AskedLogin
        let login: LoginHandle
    }

    private struct State {
        var waits: [Int: Wait] = [:]
        var last = 0
    }

    private let state = Mutex(State())

    /// Notes that the handler asked for `asked` waits for a renewal of this login until ``end(_:)``.
    ///
    /// Nil if the renewal, by what has been noted, waits for that answer itself.
    func begin(_ asked: AskedLogin, for login: LoginHandle) -> Int? {
        state.withLock { state in
            guard !Self.waits(login, for: asked.login, state.waits) else { return nil }
            state.last += 1
            state.waits[state.last] = Wait(asked: asked, login: login)
            return state.last
        }
    }

    func end(_ number: Int) {
        state.withLock { _ = $0.waits.removeValue(forKey: number) }
    }

    private static func waits(_ login: LoginHandle, for other: LoginHandle, _ waits: [Int: Wait]) -> Bool {
        var reached: Set<LoginHandle> = []
        var next = [login]
        while let current = next.popLast() {
            if current == other { return true }
            guard reached.insert(current).inserted else { continue }
            // A handler that has given its answer holds up nothing.
            next += waits.values.filter { $0.asked.login == current && $0.asked.isOpen() }.map(\.login)
        }
        return false
    }
}
