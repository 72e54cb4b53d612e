import Logging
import OAuthClient
import Synchronization
import Tracing
import VaultCrypto
import VaultStorage

/// Starts renewals, one at a time for each login, and lets callers wait for them.
///
/// The single-flight table is this object's; between managers and processes, the intent in the vault plays that part.
final class RenewalEngine: Sendable {
    let context: RenewalContext
    /// A flight is in the table from the call that starts it until its own task removes it.
    private let flights = Mutex<[LoginHandle: Flight]>([:])

    init(_ context: RenewalContext) {
        self.context = context
    }

    var vault: Vault { context.vault }

    /// Rounds after which a caller whose demand other callers' renewals did not meet gets an error.
    private static let mostRounds = 4
    /// How long a caller without a deadline keeps trying after failures that neither the login nor the provider caused.
    private static let longestRetry = Duration.seconds(30)

    /// A token that meets the demand, renewed if necessary; or the old one, if it is still acceptable.
    func renewedToken(
        _ snapshot: SessionSnapshot, target: TokenTarget = .own, demand: RenewalDemand, deadline: Duration?
    ) async throws -> VaultToken {
        // Callers that wait for a renewal read its tokens before the vault is closed.
        let holdsVault = vault.flightStarted()
        defer { if holdsVault { vault.flightEnded() } }
        let asking = try AskedLogin.open.map { asked in
            guard let wait = vault.askedWaits.begin(asked, for: snapshot.login) else { throw Self.waitsForItself }
            return wait
        }
        defer { if let asking { vault.askedWaits.end(asking) } }
        if let refusal = RenewalRefusal(snapshot, now: vault.now) {
            return try acceptable(snapshot, target, demand)
                ?? {
                    throw error(.refused(refusal), snapshot)
                }()
        }
        return try await vault.working {
            try await waitForToken(snapshot, target: target, demand: demand, deadline: deadline)
        }
    }

    private func error(_ ending: RenewalMachine.Ending, _ current: SessionSnapshot) -> VaultError {
        switch ending {
        case .refused(.ownershipLost), .failed(.notSent(.ownershipLost)): VaultError(vault.store.lockLoss)
        default: VaultError(ending, current: current, now: vault.now)
        }
    }

    private static var waitsForItself: VaultError {
        VaultError(
            .conflict, "a handler asked for a renewal that waits for its own answer",
            hint: "answer with the new token instead")
    }

    private func waitForToken(
        _ first: SessionSnapshot, target: TokenTarget, demand: RenewalDemand, deadline: Duration?
    ) async throws -> VaultToken {
        vault.checkClock()
        let login = first.login
        let started = vault.timeSource.uptime()
        var (round, known) = (0, first)
        while true {
            try Task.checkCancellation()
            let (flight, wait) = await join(
                login, target: target, demand: demand,
                deadline: deadline.map { $0 - (vault.timeSource.uptime() - started) })
            if wait == .cancelled { throw CancellationError() }
            // Regardless of the result, the row has the current state.
            let current: SessionSnapshot
            do {
                current = try await vault.session(.login(login))
            } catch let error as VaultError where error.code == .newerSchema {
                // This version can no longer read any row of the vault. The caller still gets the token that has just
                // come.
                guard case .spooled(let reply) = wait, let token = usableToken(received: reply, known) else {
                    throw error
                }
                return token
            }
            // The flight's result may have been stored before this caller came: then the flight was not for this
            // caller.
            let isNew = current.position != known.position
            known = current
            if let token = try acceptable(current, target, demand) { return token }
            if flight.target == target { round += 1 }
            switch wait {
            case .ended where flight.target != target:
                // The chain renews one token at a time, for any target; now it is this caller's turn.
                if let refusal = RenewalRefusal(current, now: vault.now) {
                    throw error(.refused(refusal), current)
                }
            case .ended(let ending)
            where isPassing(ending, current, target)
                && vault.timeSource.uptime() - started < deadline ?? Self.longestRetry:
                round -= 1
            case .ended(let ending):
                guard ending.allowsAnotherRound(isNew: isNew) || flight.hasNewSecret, round < Self.mostRounds else {
                    throw error(ending, current)
                }
            case .spooled(let reply):
                if let token = usableToken(in: reply, current) { return token }
                guard round < Self.mostRounds else {
                    throw error(.superseded, current)
                }
            case .cancelled, .deadlinePassed:
                throw VaultError(
                    .deadlineExceeded, "the renewal took longer than the caller wanted to wait",
                    hint: "the renewal continues: ask again, or with a longer deadline")
            }
        }
    }

    /// Whether a renewal left this caller without a token for a passing reason: the intent was given back unsent, or
    /// other callers have used the new token and seen it refused before this caller could read it.
    private func isPassing(
        _ ending: RenewalMachine.Ending, _ current: SessionSnapshot, _ target: TokenTarget
    ) -> Bool {
        switch ending {
        case .failed(.notSent(.tooLate)): true
        case .renewed, .satisfied, .superseded:
            current.session.token(target, at: current.position)?.isRejected == true
        case .refused, .failed, .successorOnly: false
        }
    }

    /// Joins the flight of this login, for any target, or starts one.
    func join(
        _ login: LoginHandle, target: TokenTarget = .own, demand: RenewalDemand, deadline: Duration?
    ) async -> (Flight, Flight.Wait) {
        let (flight, waiter, isNew) = flights.withLock { flights in
            if let flight = flights[login] { return (flight, flight.join(isCaller: demand.isForCaller), false) }
            let flight = Flight(target: target)
            flights[login] = flight
            return (flight, flight.join(isCaller: demand.isForCaller), true)
        }
        if isNew { start(flight, login, demand) }
        let wait = await flight.wait(
            as: waiter, deadline: deadline, timeSource: vault.timeSource,
            accepts: { $0.target == target && self.isAcceptable($0, for: demand) })
        return (flight, wait)
    }

    private func start(_ flight: Flight, _ login: LoginHandle, _ demand: RenewalDemand) {
        guard vault.flightStarted() else {
            flights.withLock { $0[login] = nil }
            flight.end(.refused(.closed))
            return
        }
        let renewal = Renewal(
            context: context, flight: flight, login: login, demand: demand, trace: ServiceContext.current ?? .topLevel)
        // It belongs to no caller, so no caller's cancellation reaches it.
        vault.spawn {
            let ending = await renewal.run()
            // Removed from the table before any waiter wakes: a new caller reads the row again.
            self.flights.withLock { $0[login] = nil }
            flight.end(ending)
            self.vault.flightEnded()
        }
    }

    /// The stored token, if the caller may have it although it should be renewed.
    private func acceptable(
        _ snapshot: SessionSnapshot, _ target: TokenTarget, _ demand: RenewalDemand
    ) throws -> VaultToken? {
        vault.classifier(snapshot.session, at: snapshot.position, target).isAcceptable(for: demand)
            ? try context.usableToken(in: snapshot, target) : nil
    }
}

extension RenewalMachine.Ending {
    /// Whether the renewal was another caller's, with another demand, or was given up by that caller, or another change
    /// came first.
    ///
    /// - Parameter isNew: Whether the login has changed since the caller saw it.
    fileprivate func allowsAnotherRound(isNew: Bool) -> Bool {
        switch self {
        case .satisfied, .superseded, .failed(.withdrawn), .failed(.notSent(.changed)): true
        case .renewed: !isNew
        case .refused, .failed, .successorOnly: false
        }
    }
}
