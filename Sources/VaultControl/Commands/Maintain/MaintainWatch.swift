import Synchronization
import TokenVault

/// What keeps the whole vault from being renewed, told once and not for each login: that the server cannot be reached, that
/// others no longer see this process as alive, that the vault was moved.
final class MaintainWatch: Sendable {
    private static let interval = Duration.seconds(5)
    /// What may pass by itself is told if it is still so at the next look.
    private static let passing: Set<VaultError.Code> = [.busy, .ownershipLost]
    /// What concerns no login alone.
    private static let common: Set<VaultError.Code> = passing.union([
        .moved, .readOnly, .storageFull, .storageFailed, .rollbackSuspected, .newerSchema, .closed,
    ])

    private struct State {
        /// What a look has found, and what a renewal has met. Each is told until it is over.
        var found: VaultError?
        var isTold = false
        var met: VaultError?
        var end: Failure?
    }

    private let vault: Vault
    private let isFile: Bool
    private let tell: @Sendable (String, OutputRecord) -> Void
    private let state = Mutex(State())

    init(_ vault: Vault, isFile: Bool, _ tell: @escaping @Sendable (_ text: String, _ details: OutputRecord) -> Void) {
        self.vault = vault
        self.isFile = isFile
        self.tell = tell
    }

    /// Why there is no point in going on.
    var end: Failure? { state.withLock { $0.end } }

    /// Looks every few seconds, until it is cancelled or there is no point in going on.
    func run() async {
        while end == nil, !Task.isCancelled {
            try? await Task.sleep(for: Self.interval)
            try? await look()
        }
    }

    /// - Throws: If there is no point in beginning.
    func look() async throws {
        do {
            try await vault.checkReadiness()
            noteReady()
        } catch let error as VaultError {
            note(error)
        }
        if let end { throw end }
    }

    private func noteReady() {
        let wasTold = state.withLock { state in
            defer { (state.found, state.isTold) = (nil, false) }
            if state.isTold { state.met = nil }
            return state.isTold
        }
        if wasTold { tell("what kept logins from being renewed is over", []) }
    }

    private func note(_ error: VaultError) {
        if isFinal(error) { return state.withLock { $0.end = $0.end ?? Failure(error) } }
        let isNews = state.withLock { state in
            let isSame = state.found?.message == error.message
            let wasTold = isSame && state.isTold || Self.areAlike(state.met, error)
            state.found = error
            if wasTold {
                state.isTold = true
                return false
            }
            state.isTold = isSame || !Self.passing.contains(error.code)
            return state.isTold
        }
        if isNews { say(error) }
    }

    /// Gives whether the renewal's line says nothing that was not said.
    func note(_ renewal: ScheduledRenewal) -> Bool {
        guard let error = renewal.obstacle, Self.common.contains(error.code) else {
            if renewal.outcome == .renewed { state.withLock { $0.met = nil } }
            return false
        }
        if isFinal(error) {
            state.withLock { $0.end = $0.end ?? Failure(error) }
            return true
        }
        let isNews = state.withLock { state in
            defer { state.met = error }
            return !Self.areAlike(state.met, error) && !(state.isTold && Self.areAlike(state.found, error))
        }
        if isNews { say(error) }
        return true
    }

    /// Whether who was told of the one need not be told of the other: a server that is gone shows in several ways.
    private static func areAlike(_ one: VaultError?, _ other: VaultError) -> Bool {
        guard let one else { return false }
        return one.code == other.code || passing.contains(one.code) && passing.contains(other.code)
    }

    /// A server that changes nothing at the moment may do so later.
    private func isFinal(_ error: VaultError) -> Bool { error.code == .moved || error.code == .readOnly && isFile }

    private func say(_ error: VaultError) {
        let failure = Failure(error)
        let hint = failure.hints.first.map { "; hint: \($0)" } ?? ""
        tell("nothing can be renewed: \(failure.message)\(hint)", failure.record)
    }
}
