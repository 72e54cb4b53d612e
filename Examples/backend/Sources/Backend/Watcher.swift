import Logging
import TokenVault

/// Learns of accounts that their users must reconnect, including those that died while this service was down. A real
/// service sends an email; this one prints a line.
struct Watcher: LoginObserver {
    /// The vault keeps under it what was reported: once, however many processes of this service run.
    let name = "watcher"
    let logger: Logger

    func observe(_ event: SessionEvent) async throws {
        let login: Logger.Metadata = ["login": "\(event.login.map(\.description) ?? "unknown")"]
        switch event.kind {
        case .refreshFailed, .error(.needsUserInteraction): logger.notice("an account needs its user", metadata: login)
        case .recovered: logger.notice("an account works again", metadata: login)
        case .missed: logger.notice("events were missed")
        default: break
        }
    }
}
