/// The life of one renewal, as a value: events go in, effects come out; it does no I/O.
///
/// Drawn and explained in `docs/session-states.md`. The driver is ``Renewal``. Each transition gives at most one effect
/// that answers with an event; the machine always ends in ``State/ended(_:)``.
struct RenewalMachine: Equatable, Sendable {
    private(set) var state: State = .idle
    private(set) var replaysMade = 0
    private(set) var claimsGivenBack = 0
    private(set) var hasRedeemedSuccessor = false
    private(set) var hasTriedOtherToken = false
    /// The app has agreed to this renewal, perhaps before an earlier attempt that was given back unsent.
    private(set) var hasConsent = false

    /// Whether the app must still be asked how to renew. It is asked once for each renewal.
    var mayAsk: Bool { !hasConsent && !hasRedeemedSuccessor && !hasTriedOtherToken }

    /// An outcome that cannot be written after this many tries is left to the intent, which says *in doubt*.
    static let recordingTries = 5
    /// Claims that one renewal gives back because it reached the request too late, or the login had changed.
    static let mostClaimsGivenBack = 3

    /// The one transition function.
    mutating func handle(_ event: Event) -> [Effect] {
        switch (state, event) {
        case (.idle, .started):
            return enter(.claiming, .claim)

        case (.claiming, .claimed(let claim)):
            switch claim.method {
            case .grant: return enter(.sending(claim), .send(claim))
            case .handler, .session: return enter(.asking(claim), .ask(claim))
            }
        case (.claiming, .satisfied):
            return end(.satisfied)
        case (.claiming, .refused(let refusal)):
            return end(.refused(refusal))
        case (.claiming, .gaveUp):
            return [.announceRefreshFailed] + end(.refused(.dead(.lostResponse)))
        case (.claiming, .ownedElsewhere):
            return enter(.waitingForOwner, .pause(.forOwner))
        case (.claiming, .storeFailed):
            return end(.refused(.storeFailed))

        case (.waitingForOwner, .pauseEnded):
            return enter(.claiming, .claim)
        case (.waitingForOwner, .refused(let refusal)):
            return end(.refused(refusal))

        case (.sending(let claim), .replied(let reply)):
            return received(reply, for: claim)
        case (.pausingBeforeReplay(let claim), .pauseEnded):
            return enter(.notingReplay(claim), .noteReplay(claim))
        case (.notingReplay(let claim), let event):
            return noted(event, for: claim)
        case (.asking(let claim), _):
            return answered(event, to: claim)
        case (.exchanging(let claim), .replied(let reply)):
            return received(reply, for: claim)

        case (.storing(_, let reply, _, let isSpooled), .stored):
            return (isSpooled ? [.unspool] : []) + stored(reply)
        case (.storing(_, _, _, let isSpooled), .superseded):
            return (isSpooled ? [.unspool] : []) + end(.superseded)
        case (.storing(let claim, let reply, let failures, isSpooled: false), .storeFailed):
            return enter(.spooling(claim, reply, failures: failures + 1, last: nil), .spool(claim))
        case (.storing(let claim, let reply, let failures, isSpooled: true), .storeFailed):
            return storeAgain(claim, reply, failures: failures + 1, isSpooled: true)
        case (.storing(let claim, let reply, _, _), .pauseEnded):
            return [.store(claim, reply)]
        case (.storing(let claim, let reply, let failures, isSpooled: false), .closed):
            return enter(.spooling(claim, reply, failures: failures, last: .closed), .spool(claim))
        case (.storing(let claim, let reply, let failures, isSpooled: false), .ownershipLost):
            return enter(.spooling(claim, reply, failures: failures, last: .ownershipLost), .spool(claim))

        case (.spooling(_, _, _, let refusal?), .spooled), (.spooling(_, _, _, let refusal?), .spoolFailed):
            return end(.refused(refusal))
        case (.spooling(let claim, let reply, let failures, nil), .spooled):
            return [.serveSpooled(claim)] + storeAgain(claim, reply, failures: failures, isSpooled: true)
        case (.spooling(let claim, let reply, let failures, nil), .spoolFailed):
            return storeAgain(claim, reply, failures: failures, isSpooled: false)

        case (.recording(let claim, let verdict, _), .stored):
            return recorded(verdict, for: claim)
        case (.recording, .superseded):
            return end(.superseded)
        case (.recording, .refused(let refusal)):
            return [.countRefusal] + end(.refused(refusal))
        case (.recording, .otherTokenTaken):
            guard !hasTriedOtherToken else { return end(.superseded) }
            hasTriedOtherToken = true
            replaysMade = 0
            return enter(.claiming, .claim)
        case (.recording(let claim, let verdict, let failures), .storeFailed):
            guard failures + 1 < Self.recordingTries else { return end(.failed(verdict)) }
            state = .recording(claim, verdict, failures: failures + 1)
            return [.pause(.beforeStoringAgain(failures: failures + 1))]
        case (.recording(let claim, let verdict, _), .pauseEnded):
            return [.record(claim, verdict)]

        case (.claiming, .closed), (.waitingForOwner, .closed), (.storing, .closed), (.recording, .closed):
            return end(.refused(.closed))
        case (.claiming, .ownershipLost), (.storing, .ownershipLost), (.recording, .ownershipLost):
            return end(.refused(.ownershipLost))

        // An event that the state does not await changes nothing.
        case (.idle, _), (.claiming, _), (.waitingForOwner, _), (.sending, _), (.pausingBeforeReplay, _),
            (.exchanging, _), (.storing, _), (.spooling, _), (.recording, _), (.ended, _):
            return []
        }
    }

    /// The app's answer, or the result of asking it.
    private mutating func answered(_ event: Event, to claim: RenewalClaim) -> [Effect] {
        switch (event, claim.method) {
        case (.replied(let reply), _):
            return received(reply, for: claim)
        case (.consented, .session):
            // A claim of its own: only from here on may something be spent.
            hasConsent = true
            return enter(.claiming, .claim)
        case (.authTokenGiven, .session):
            return enter(.exchanging(claim), .exchange(claim))
        default:
            return []
        }
    }

    private mutating func received(_ reply: RenewalReply, for claim: RenewalClaim) -> [Effect] {
        switch reply {
        case .tokens, .successorOnly:
            return enter(.storing(claim, reply, failures: 0, isSpooled: false), .store(claim, reply))
        case .verdict(.inDoubt(mayReplay: true)) where claim.method == .grant && replaysMade < ReplayPolicy.mostAtOnce:
            // At once, because a server that forgives a replay forgives it for seconds only.
            replaysMade += 1
            var replay = claim
            replay.isInDoubt = true
            replay.tries += 1
            return enter(.pausingBeforeReplay(replay), .pause(.beforeReplay))
        case .verdict(let verdict):
            return enter(.recording(claim, verdict, failures: 0), .record(claim, verdict))
        }
    }

    /// The result of recording that a replay is about to be sent.
    private mutating func noted(_ event: Event, for claim: RenewalClaim) -> [Effect] {
        switch event {
        case .stored: return enter(.sending(claim), .send(claim))
        case .superseded: return end(.superseded)
        case .closed: return end(.refused(.closed))
        case .ownershipLost: return end(.refused(.ownershipLost))
        case .storeFailed:
            // A request that would leave no trace is not sent. The doubt is older than the replay.
            var unsent = claim
            unsent.tries -= 1
            let verdict = RenewalFailure.inDoubt(mayReplay: false)
            return enter(.recording(unsent, verdict, failures: 0), .record(unsent, verdict))
        default: return []
        }
    }

    private mutating func stored(_ reply: RenewalReply) -> [Effect] {
        switch reply {
        case .successorOnly(.accessTokenMissing) where !hasRedeemedSuccessor:
            hasRedeemedSuccessor = true
            replaysMade = 0
            return enter(.claiming, .claim)
        case .successorOnly(let defect):
            return end(.successorOnly(defect))
        case .tokens, .verdict:
            return [.closeBreaker] + end(.renewed)
        }
    }

    private mutating func storeAgain(
        _ claim: RenewalClaim, _ reply: RenewalReply, failures: Int, isSpooled: Bool
    ) -> [Effect] {
        enter(
            .storing(claim, reply, failures: failures, isSpooled: isSpooled),
            .pause(.beforeStoringAgain(failures: failures)))
    }

    private mutating func recorded(_ verdict: RenewalFailure, for claim: RenewalClaim) -> [Effect] {
        switch verdict {
        case .dead:
            return [.announceRefreshFailed] + end(.failed(verdict))
        case .clientRefused:
            return [.openBreaker] + end(.failed(verdict))
        case .misconfigured:
            return [.countRefusal] + end(.failed(verdict))
        case .targetRefused:
            return [.noteRefusedTarget] + end(.failed(verdict))
        case .notSent(.tooLate), .notSent(.changed):
            guard claimsGivenBack < Self.mostClaimsGivenBack else { return end(.failed(verdict)) }
            claimsGivenBack += 1
            return enter(.claiming, .claim)
        case .needsUser:
            return [.announceNeed] + end(.failed(verdict))
        case .transient, .unprocessed, .inDoubt, .notSent(.ownershipLost), .notSent(.outOfTime), .withdrawn,
            .postponed:
            return end(.failed(verdict))
        }
    }

    private mutating func enter(_ next: State, _ effect: Effect) -> [Effect] {
        state = next
        return [effect]
    }

    private mutating func end(_ ending: Ending) -> [Effect] {
        state = .ended(ending)
        return [.end(ending)]
    }
}
