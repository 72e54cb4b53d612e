import Synchronization
import VaultStorage

/// Renewals of other processes that callers wait for, or have waited for in vain; with the start of the wait, by a
/// clock that is never set.
final class AwaitedOwners: Sendable {
    private let table = Mutex<[LoginHandle: (fence: Int64, since: Duration)]>([:])

    /// Returns how long this renewal of the login has been waited for.
    func time(of fence: Int64, for login: LoginHandle, at uptime: Duration) -> Duration {
        table.withLock { table in
            if let known = table[login], known.fence == fence { return uptime - known.since }
            table[login] = (fence, uptime)
            return .zero
        }
    }

    func forget(_ login: LoginHandle) { table.withLock { $0[login] = nil } }
}
