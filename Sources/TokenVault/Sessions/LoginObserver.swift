/// Gets events of logins: deaths, needs for a user, recoveries. It supplies no tokens: any number of observers work
/// alongside a ``TokenRefreshHandler`` or a ``SessionHandler``.
///
/// ```swift
/// struct Mailer: LoginObserver {
///     let database: Database
///
///     func observe(_ event: SessionEvent) async throws {
///         switch event.kind {
///         case .refreshFailed, .error(.needsUserInteraction): try await database.queueMail(to: event.userId ?? "")
///         case .recovered: try await database.dropMail(to: event.userId ?? "")
///         default: break
///         }
///     }
///
///     func save(_ cursor: EventCursor) async throws { try await database.set("cursor", "\(cursor)") }
///     func savedCursor() async throws -> EventCursor? { try await database.get("cursor").flatMap(EventCursor.init) }
/// }
/// ```
///
/// Name it in ``VaultServiceOptions/observers``. Each event comes **at least
/// once**, also across restarts, in the order of the vault's record, from all processes. If several processes run the
/// same observer, each of them delivers everything: let one of them have it, or let ``observe(_:)`` recognise handled
/// events by login, generation and kind.
public protocol LoginObserver: Sendable {
    /// Handles an event: ``SessionEvent/Kind/refreshFailed(_:)``, ``SessionEvent/Kind/error(_:)``,
    /// ``SessionEvent/Kind/recovered``, ``SessionEvent/Kind/refreshTokenWillExpire(at:)``,
    /// ``SessionEvent/Kind/stateChanged(_:)`` to `terminated`, ``SessionEvent/Kind/providerStopped(name:ended:)``,
    /// ``SessionEvent/Kind/providerResumed(name:)``, or ``SessionEvent/Kind/missed(count:)``, after which the logins
    /// should be read again. If it throws, the same event comes again after 1, 2, 4 … 60 seconds, and the next ones
    /// wait.
    func observe(_ event: SessionEvent) async throws

    /// Saves the position up to which everything has been handled.
    func save(_ cursor: EventCursor) async throws

    /// The cursor that was saved last; nil: none yet, so that the observer begins with events from now on. To begin
    /// with everything that the vault still has, return ``EventCursor/start`` instead.
    func savedCursor() async throws -> EventCursor?
}

extension SessionEvent.Kind {
    /// Whether observers get it: events that say that a login needs a person, or no longer does.
    var isForObservers: Bool {
        switch self {
        case .refreshFailed, .error, .recovered, .refreshTokenWillExpire, .stateChanged(.terminated), .providerStopped,
            .providerResumed, .missed:
            true
        case .willExpire, .expired, .updated, .stateChanged, .scopeChanged: false
        }
    }
}
