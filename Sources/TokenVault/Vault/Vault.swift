package import FoundationEssentials
package import Logging
import Synchronization
import VaultCrypto
import VaultSQLite
package import VaultStorage

/// A vault: a file, or a schema on a database server, in which everything secret is sealed, user ids too.
///
/// Several processes may have it open: those of one machine a file, those of several machines one on a server. Work with its users through a ``UserManager``.
///
/// ```swift
/// try KeyFiles.generate(at: "/etc/app/vault.key")
/// let vault = try await Vault.create(at: "/var/lib/app/tokens.vault", unlockedBy: .keyFile("/etc/app/vault.key"))
/// ```
///
/// ## Topics
/// ### Opening
/// - ``create(at:unlockedBy:recoverableBy:options:)``
/// - ``create(in:unlockedBy:recoverableBy:options:)``
/// - ``open(at:unlockedBy:options:)``
/// - ``open(in:unlockedBy:options:)``
/// - ``close()``
/// - ``path``
/// - ``readOnlyReason``
/// ### Providers
/// - ``addProvider(_:of:)``
/// - ``providers(of:)``
/// - ``provider(named:of:)``
/// - ``updateProvider(named:of:_:force:)``
/// - ``removeProvider(named:of:)``
/// ### Users and logins
/// - ``users(of:)``
/// - ``user(_:of:)``
/// - ``login(_:of:)``
/// - ``logins(where:after:pageSize:)``
/// ### Health
/// - ``rotateRootKey(timeLimit:)``
/// - ``checkReadiness()``
public final class Vault: Sendable {
    /// The file's path, or the server's address without a password.
    public let path: String
    package let store: any VaultStore
    let pin: VaultPin
    package let timeSource: any TimeSource
    let logger: Logger
    /// Reports what happens to logins.
    let sessions: SessionFeed
    /// Handlers under way, which are notified when their answer is no longer wanted.
    let superseding = Superseding()
    let clock = ClockWatch()
    let knownNames = ProviderNames()
    /// Which handlers wait for which renewals.
    let askedWaits = AskedWaits()
    /// Nil in production: no clock but a test's wants to know when there is work under way.
    let workClock: (any WorkClock)?
    /// Measures how long something has lasted, whatever is done to the wall clock.
    let steady: SteadyClock

    private struct Life {
        var isClosing = false
        /// Work that must not be cut off, because it may hold the only copy of a token.
        var flights = 0
        var waiters: [OneAnswer<Void>] = []
        /// Fences of attempts under way in this process.
        var attempts: Set<Int64> = []
        /// Fences of attempts that are known to have spent nothing, which could not be written down.
        var unspent: Set<Int64> = []
        var closingActions: [Int: @Sendable () -> Void] = [:]
        var lastAction = 0
    }

    /// For ``forgetClosingAction(_:)``.
    struct ClosingAction: Sendable {
        fileprivate let number: Int
    }

    private let life = Mutex(Life())

    package init(
        path: String, store: any VaultStore, timeSource: any TimeSource, logger: Logger,
        sessionEvents: SessionEventOptions = .init(), stateDirectory: String? = nil
    ) {
        self.path = path
        pin = VaultPin(of: path, in: stateDirectory)
        self.store = store
        self.timeSource = timeSource
        self.logger = logger
        workClock = timeSource as? any WorkClock
        steady = SteadyClock(now: timeSource.timestamp, uptime: timeSource.uptime())
        sessions = SessionFeed(store: store, timeSource: timeSource, logger: logger, options: sessionEvents)
    }

    /// Lets renewals under way finish, then closes the file. Nothing new begins: renewals that still wait for their
    /// provider's turn, and later calls, end with ``VaultError/Code/closed``. A call that waited for a renewal under
    /// way gets its token.
    ///
    /// New tokens that cannot be written, because the disk is full for instance, are waited for: for about a second if
    /// they are in the spool, where the next process finds them, and for about ten if they are only in memory.
    public func close() async {
        let actions = life.withLock { life in
            life.isClosing = true
            defer { life.closingActions = [:] }
            return life.closingActions.sorted { $0.key < $1.key }.map(\.value)
        }
        for action in actions { action() }
        // Nothing is lost by not waiting for the app.
        superseding.end()
        let idle = OneAnswer<Void>()
        let isIdle = life.withLock { life in
            life.isClosing = true
            if life.flights > 0 { life.waiters.append(idle) }
            return life.flights == 0
        }
        if !isIdle { await idle.value() }
        // Subscribers still hear of what was stored last.
        await sessions.close()
        await store.shutDown()
    }

    var isClosing: Bool { life.withLock { $0.isClosing } }

    package func requireOpen() throws {
        guard !isClosing else { throw VaultError(.closed, "the vault is closed") }
    }
}

// The vault's part in renewals.
extension Vault {
    /// Runs the action when the vault begins to close; at once if it does already. A caller that has nothing left to
    /// end forgets it, because a vault outlives its managers.
    @discardableResult
    func whenClosing(_ action: @escaping @Sendable () -> Void) -> ClosingAction {
        let (number, isClosing) = life.withLock { life in
            life.lastAction += 1
            if !life.isClosing { life.closingActions[life.lastAction] = action }
            return (life.lastAction, life.isClosing)
        }
        if isClosing { action() }
        return ClosingAction(number: number)
    }

    func forgetClosingAction(_ action: ClosingAction) {
        life.withLock { _ = $0.closingActions.removeValue(forKey: action.number) }
    }

    /// For tests.
    var closingActionCount: Int { life.withLock { $0.closingActions.count } }

    /// Whether ``close()`` would have to wait.
    package var isWorking: Bool { life.withLock { $0.flights > 0 } }

    package var now: Timestamp { timeSource.timestamp }

    package var wallClock: @Sendable () -> Date {
        { [timeSource] in timeSource.now() }
    }

    /// Waits, whatever becomes of the task: only for work that belongs to no caller.
    package func pause(_ duration: Duration) async {
        let isOver = OneAnswer<Void>()
        _ = timeSource.alarm(after: duration) { isOver.give(()) }
        await isOver.value()
    }

    /// False once the vault is closing: nothing new may begin.
    func flightStarted() -> Bool {
        life.withLock { life in
            guard !life.isClosing else { return false }
            life.flights += 1
            return true
        }
    }

    func flightEnded() {
        let waiters = life.withLock { life in
            life.flights -= 1
            guard life.flights == 0 else { return [] as [OneAnswer<Void>] }
            defer { life.waiters = [] }
            return life.waiters
        }
        for waiter in waiters { waiter.give(()) }
    }

    /// Whether an attempt with this fence is under way in this process.
    func isUnderWay(_ fence: Int64) -> Bool {
        life.withLock { $0.attempts.contains(fence) }
    }

    /// Requests that may be under way: each renewal that is not to be cut off makes at most one at a time.
    var flightCount: Int { life.withLock { $0.flights } }

    func attemptStarted(_ fence: Int64) {
        life.withLock { _ = $0.attempts.insert(fence) }
    }

    func attemptsEnded(_ fences: Set<Int64>) {
        life.withLock { $0.attempts.subtract(fences) }
    }

    /// Until the vault is closed, this process knows that the attempt has spent nothing.
    func noteUnspent(_ fence: Int64) {
        life.withLock { _ = $0.unspent.insert(fence) }
    }

    /// It is written down.
    func forgetUnspent(_ fence: Int64) {
        life.withLock { _ = $0.unspent.remove(fence) }
    }

    package func isUnspent(_ fence: Int64) -> Bool {
        life.withLock { $0.unspent.contains(fence) }
    }

    /// Whether a process is at work on this intent. Liveness decides, not time.
    package func owner(of intent: IntentRecord) -> ClaimDecision.Owner {
        if intent.owner == IntentRecord.nobody { return .gone }
        if intent.owner == store.owner { return isUnderWay(intent.fence) ? .working : .gone }
        return intent.ownerLives ? .working : .gone
    }

    /// The hot read, with public errors.
    func session(_ selector: LoginSelector, withKey: Bool = false) async throws -> SessionSnapshot {
        do throws(StoreError) {
            return try await store.session(selector, withKey: withKey)
        } catch {
            throw VaultError(error, choosing: selector)
        }
    }

    package func updateLogin<R: Sendable>(
        _ handle: LoginHandle, _ body: @escaping @Sendable (inout LoginState) throws -> R
    ) async throws -> R {
        try await VaultError.translating { try await change(handle, body) }
    }
}

extension Vault: PublicRendering {
    var shown: ShownFields { [:] }
}
