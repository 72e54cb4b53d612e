import Synchronization
import VaultStorage

/// Notifies the asking code that the app's answer is no longer wanted: the login was logged out, or got a token in
/// another way, or the vault is closing.
final class Superseding: Sendable {
    private struct Watch {
        let login: LoginHandle
        let action: @Sendable () -> Void
    }

    private struct State {
        var watches: [Int: Watch] = [:]
        var next = 0
        var isOver = false
    }

    private let state = Mutex(State())

    /// After ``end()`` the action runs at once.
    func watch(_ login: LoginHandle, _ action: @escaping @Sendable () -> Void) -> Int {
        let (id, isOver) = state.withLock { state in
            state.next += 1
            if !state.isOver { state.watches[state.next] = Watch(login: login, action: action) }
            return (state.next, state.isOver)
        }
        if isOver { action() }
        return id
    }

    func unwatch(_ id: Int) {
        state.withLock { _ = $0.watches.removeValue(forKey: id) }
    }

    func fire(_ logins: [LoginHandle]) {
        let actions = state.withLock { state in
            state.watches.values.filter { logins.contains($0.login) }.map(\.action)
        }
        for action in actions { action() }
    }

    /// Notifies all watchers, and those that come later.
    func end() {
        let actions = state.withLock { state in
            state.isOver = true
            defer { state.watches = [:] }
            return state.watches.values.map(\.action)
        }
        for action in actions { action() }
    }
}
