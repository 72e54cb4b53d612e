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
    let store: SimulatedStore
    let vault: Vault
    var state = State.running
    /// Nil until it has started.
    var users: UserManager?
    var problem: (any Error)?
    var scheduler: Task<Void, Never>?
    /// Tokens that its callers got, to be reported as rejected.
    var tokens: [VaultToken] = []

    init(number: Int, store: SimulatedStore, vault: Vault) {
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
