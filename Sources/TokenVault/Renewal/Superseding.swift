import Synchronization
import VaultStorage

/// Tells handlers under way that their answer is no longer wanted: the login was logged out, or got a token otherwise.
final class Superseding: Sendable {
    private struct Watch {
        let login: LoginHandle
        let action: @Sendable () -> Void
    }

    private let watches = Mutex<[Int64: Watch]>([:])

    func watch(_ login: LoginHandle, fence: Int64, _ action: @escaping @Sendable () -> Void) {
        watches.withLock { $0[fence] = Watch(login: login, action: action) }
    }

    func unwatch(fence: Int64) {
        watches.withLock { _ = $0.removeValue(forKey: fence) }
    }

    func fire(_ logins: [LoginHandle]) {
        let actions = watches.withLock { watches in
            watches.values.filter { logins.contains($0.login) }.map(\.action)
        }
        for action in actions { action() }
    }
}
