import Hummingbird
import Synchronization

/// The signed-in users by browser. A browser knows a random name; the tokens never leave the vault's process.
///
/// In memory, for brevity. A real service has sessions and accounts of its own.
final class BrowserSessions: Sendable {
    struct Session: Sendable {
        let user: String
        /// Included in each form of this session's pages, so that no other site can send one.
        let formToken = BrowserSessions.random()
    }

    private static let cookie = "session"
    private let sessions = Mutex<[String: Session]>([:])
    /// Whether the cookie is restricted to TLS.
    private let usesTLS: Bool

    init(usesTLS: Bool) { self.usesTLS = usesTLS }

    func session(of request: Request) -> Session? {
        guard let name = request.cookies[Self.cookie]?.value else { return nil }
        return sessions.withLock { $0[name] }
    }

    /// Returns the cookie of a new session.
    func begin(_ user: String) -> Cookie {
        let name = Self.random()
        sessions.withLock { $0[name] = Session(user: user) }
        return Cookie(name: Self.cookie, value: name, path: "/", secure: usesTLS, httpOnly: true, sameSite: .lax)
    }

    func end(_ request: Request) {
        guard let name = request.cookies[Self.cookie]?.value else { return }
        sessions.withLock { _ = $0.removeValue(forKey: name) }
    }

    private static func random() -> String {
        (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined(separator: "-")
    }
}
