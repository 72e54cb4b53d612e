import Logging
import OAuthClient
import TokenVault

/// One process with the vault open: everything in it runs, stalls and dies together.
final class SimulatedProcess: @unchecked Sendable {
    enum State {
        case running
        case stalled
        /// Its jobs never run again.
        case dead
        /// It closes the vault, and ends when that is done.
        case closing
        case ended
    }

    let number: Int
    let store: MemoryVaultStore
    let vault: Vault
    var state = State.running
    /// Nil until it has started.
    var users: UserManager?
    var problem: (any Error)?
    /// Tokens that its callers got, to be reported as rejected.
    var tokens: [VaultToken] = []

    init(number: Int, store: MemoryVaultStore, vault: Vault) {
        self.number = number
        self.store = store
        self.vault = vault
    }

    var isAlive: Bool {
        switch state {
        case .running, .stalled, .closing: true
        case .dead, .ended: false
        }
    }
}

/// Looks at every line that the library logs.
final class TaintedLog: @unchecked Sendable {
    private let onTaint: (String) -> Void

    init(_ onTaint: @escaping (String) -> Void) { self.onTaint = onTaint }

    var logger: Logger { Logger(label: "simulation") { _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: TaintedLog
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let text = "\(event.message) \(event.metadata ?? [:])"
            if text.contains("CANARY-") { log.onTaint(text) }
        }
    }
}
