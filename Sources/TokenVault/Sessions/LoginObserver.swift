/// Gets events of logins: deaths, needs for a user, recoveries. It supplies no tokens: any number of observers work
/// alongside a ``TokenRefreshHandler`` or a ``SessionHandler``.
///
/// ```swift
/// struct Mailer: LoginObserver {
///     let name = "mailer"
///     let database: Database
///
///     func observe(_ event: SessionEvent) async throws {
///         switch event.kind {
///         case .refreshFailed, .error(.needsUserInteraction): try await database.queueMail(to: event.userId ?? "")
///         case .recovered: try await database.dropMail(to: event.userId ?? "")
///         default: break
///         }
///     }
/// }
/// ```
///
/// List it in ``VaultServiceOptions/observers``. The vault keeps how far each observer has got, under its ``name``, and
/// which process delivers to it. Of all processes that run an observer of one name, one delivers; when it ends, another
/// takes over. So each event comes **once** in all, in the order of the vault's record, from all processes, also across
/// restarts. After a crash, or if the vault could not store that an event was handled, the last one may come
/// **again**: the vault stores the position after ``observe(_:)`` has returned.
public protocol LoginObserver: Sendable {
    /// The observer's name in the vault: from 1 to 64 letters, digits, dots, hyphens and underscores of ASCII. It stays the
    /// same in all processes and all versions of your app: an observer of another name is a new one, and begins with events
    /// from now on.
    var name: String { get }

    /// Handles an event: ``SessionEvent/Kind/refreshFailed(_:)``, ``SessionEvent/Kind/error(_:)``,
    /// ``SessionEvent/Kind/recovered``, ``SessionEvent/Kind/refreshTokenWillExpire(at:)``,
    /// ``SessionEvent/Kind/stateChanged(_:)`` to `terminated`, ``SessionEvent/Kind/providerStopped(name:ended:)``,
    /// ``SessionEvent/Kind/providerResumed(name:)``, ``SessionEvent/Kind/providerDrifted(name:)``, or
    /// ``SessionEvent/Kind/missed(count:)``, after which the logins should be read again. If it throws, the same event
    /// comes again after 1, 2, 4 … 60 seconds, and the next ones wait. They also wait for as long as it does not return.
    func observe(_ event: SessionEvent) async throws
}

extension SessionEvent.Kind {
    /// Whether observers get it: events that say that a login needs a person, or no longer does.
    var isForObservers: Bool {
        switch self {
        case .refreshFailed, .error, .recovered, .refreshTokenWillExpire, .stateChanged(.terminated), .providerStopped,
            .providerResumed, .providerDrifted, .missed:
            true
        case .willExpire, .expired, .updated, .stateChanged, .scopeChanged: false
        }
    }
}
