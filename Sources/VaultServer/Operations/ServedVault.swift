package import Logging
package import Metrics
import Synchronization
package import TokenVault

/// How a ``VaultServer`` works.
package struct ServeOptions: Sendable {
    /// How many connections one user may have to one socket. When there are more, idle ones are closed.
    package var connections = 2_048
    /// How many requests of one client may be under way.
    package var requests = 1_024
    /// How long a connection may be idle, or silent within a request.
    package var idleTime = Duration.seconds(60)
    /// How long a request's body may take.
    package var bodyTime = Duration.seconds(10)
    /// How long requests under way may take when the server stops.
    package var closingTime = Duration.seconds(30)
    /// How long a program that has connected, and has asked nothing yet, may take to ask when the server stops.
    package var firstRequestTime = Duration.seconds(1)
    package var logger = Logger(label: "vaultctl.serve") { _ in SwiftLogNoOpLogHandler() }
    package var metrics: (any MetricsFactory)?
    /// The text of `/metrics`.
    package var metricsText: @Sendable () -> String = { "" }
    /// What an operator could do about an error.
    package var hints: @Sendable (VaultError) -> [String] = { $0.hint.map { [$0] } ?? [] }
    /// Called when a token was given out for which no row could be written.
    package var onUnrecorded: @Sendable (_ client: String, VaultError) -> Void = { _, _ in }

    package init() {}
}

/// The vault as the operations see it: its users, the policy as it is now, and what has been given out.
final class ServedVault: Sendable {
    let users: UserManager
    let options: ServeOptions
    let handOuts = HandOuts()
    private let policy: Mutex<ServePolicy>

    init(_ users: UserManager, _ policy: ServePolicy, _ options: ServeOptions) {
        self.users = users
        self.options = options
        self.policy = Mutex(policy)
    }

    var currentPolicy: ServePolicy { policy.withLock { $0 } }

    func replacePolicy(_ policy: ServePolicy) { self.policy.withLock { $0 = policy } }
}
