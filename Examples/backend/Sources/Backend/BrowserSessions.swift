import Synchronization
import TokenVault

/// Which login a browser may use. A browser knows a random name; the tokens never leave the vault's process.
///
/// In memory, for brevity. A real service has sessions and accounts of its own, and keeps the login's id with them.
final class BrowserSessions: Sendable {
    private let logins = Mutex<[String: LoginID]>([:])

    func begin(_ login: LoginID) -> String {
        let name = (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined(separator: "-")
        logins.withLock { $0[name] = login }
        return name
    }

    func login(of name: String?) -> LoginID? {
        guard let name else { return nil }
        return logins.withLock { $0[name] }
    }

    func end(_ name: String) {
        logins.withLock { _ = $0.removeValue(forKey: name) }
    }
}
