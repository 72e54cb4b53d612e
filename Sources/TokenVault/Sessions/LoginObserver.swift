/// Hears what becomes of logins: deaths, needs for a user, recoveries. Apart from who supplies tokens: an observer is asked for
/// nothing, and any number of them work beside a ``TokenRefreshHandler`` or a ``SessionHandler``.
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
/// Name it in ``VaultServiceOptions/observers``, or run a ``LoginObservation`` yourself. Each event comes **at least once**, over
/// restarts too, in the order of the vault's record, from all processes. Of several processes with the same observer each
/// tells it everything: let one of them have it, or let ``observe(_:)`` recognise what it has dealt with by login, generation
/// and kind.
public protocol LoginObserver: Sendable {
    /// Deals with an event: ``SessionEvent/Kind/refreshFailed(_:)``, ``SessionEvent/Kind/error(_:)``,
    /// ``SessionEvent/Kind/recovered``, ``SessionEvent/Kind/refreshTokenWillExpire(at:)``,
    /// ``SessionEvent/Kind/stateChanged(_:)`` to `terminated`, ``SessionEvent/Kind/providerStopped(name:ended:)``,
    /// ``SessionEvent/Kind/providerResumed(name:)``, or ``SessionEvent/Kind/missed(count:)``, after which the logins should be
    /// looked at anew. If it throws, the same event comes again after 1, 2, 4 … 60 seconds, and the next ones wait.
    func observe(_ event: SessionEvent) async throws

    /// Keeps the place up to which everything has been dealt with.
    func save(_ cursor: EventCursor) async throws

    /// What was kept last; nil: nothing yet, so that the observer begins with what happens from now on. To begin with what
    /// the vault still has, return ``EventCursor/start`` instead.
    func savedCursor() async throws -> EventCursor?
}

extension SessionEvent.Kind {
    /// Whether an observer hears of it: what says that a login needs someone, or no longer does.
    var isForObservers: Bool {
        switch self {
        case .refreshFailed, .error, .recovered, .refreshTokenWillExpire, .stateChanged(.terminated), .providerStopped,
            .providerResumed, .missed:
            true
        case .willExpire, .expired, .updated, .stateChanged, .scopeChanged: false
        }
    }
}
