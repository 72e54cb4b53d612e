import Synchronization
import TokenVault

/// Reports once, rather than for each login, what keeps the whole vault from being renewed: the server is unreachable,
/// other processes no longer see this one as alive, or the vault was moved or exchanged.
final class MaintainWatch: Sendable {
    private static let interval = Duration.seconds(5)
    /// Errors that may pass on their own; reported if they persist at the next check.
    private static let passing: Set<VaultError.Code> = [.busy, .ownershipLost]
    /// Errors that concern more than one login.
    private static let common: Set<VaultError.Code> = passing.union([
        .moved, .readOnly, .storageFull, .storageFailed, .rollbackSuspected, .newerSchema, .closed,
    ])

    private struct State {
        /// The last error of a check, and that of a renewal. Neither is reported again until it is over.
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

    /// The reason why continuing is pointless.
    var end: Failure? { state.withLock { $0.end } }

    /// Checks every few seconds, until it is cancelled or continuing is pointless.
    func run() async {
        while end == nil, !Task.isCancelled {
            try? await Task.sleep(for: Self.interval)
            try? await look()
        }
    }

    /// - Throws: if starting is pointless.
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
        if wasTold { tell("logins can be renewed again", []) }
    }

    private func note(_ error: VaultError) {
        // Another file in the vault's place: this process has the old one open for good.
        let isExchanged = isFile && error.code == .rollbackSuspected
        if isExchanged || isFinal(error) { return state.withLock { $0.end = $0.end ?? Failure(error) } }
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

    /// Returns whether the renewal's line would only repeat a reported error.
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

    /// Whether the second error need not be reported after the first: an unreachable server shows up in several ways.
    private static func areAlike(_ one: VaultError?, _ other: VaultError) -> Bool {
        guard let one else { return false }
        return one.code == other.code || passing.contains(one.code) && passing.contains(other.code)
    }

    /// A server that accepts no changes now may accept them later.
    private func isFinal(_ error: VaultError) -> Bool { error.code == .moved || error.code == .readOnly && isFile }

    private func say(_ error: VaultError) {
        let failure = Failure(error)
        let hint = failure.hints.first.map { "; hint: \($0)" } ?? ""
        tell("nothing can be renewed: \(failure.message)\(hint)", failure.record)
    }
}
