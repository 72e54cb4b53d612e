import Synchronization
import TokenVault

/// The signed-in users by browser. A browser knows a random name; the tokens never leave the vault's process.
///
/// In memory, for brevity. A real service has sessions and accounts of its own.
final class BrowserSessions: Sendable {
    struct Session: Sendable {
        let user: String
        /// The account that this session began with, if any.
        var login: LoginID?
        /// Included in each form of this session's pages, so that no other site can send one.
        let formToken = BrowserSessions.random()
    }

    private let sessions = Mutex<[String: Session]>([:])

    func begin(_ user: String, _ login: LoginID? = nil) -> String {
        let name = Self.random()
        sessions.withLock { $0[name] = Session(user: user, login: login) }
        return name
    }

    func session(of name: String?) -> Session? {
        guard let name else { return nil }
        return sessions.withLock { $0[name] }
    }

    func end(_ name: String) {
        sessions.withLock { _ = $0.removeValue(forKey: name) }
    }

    private static func random() -> String {
        (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined(separator: "-")
    }
}
