/// The life of one renewal, as a value: events go in, effects come out, nothing is done here.
///
/// Drawn and explained in `docs/session-states.md`. The driver is ``RenewalFlight``. Each transition gives at most one
/// effect that answers with an event; the machine ends in ``State/ended(_:)`` whatever happens.
struct RenewalMachine: Equatable, Sendable {
    enum State: Equatable, Sendable {
        case idle
        /// The intent is being written, after the row was read and checked again (D1).
        case claiming
        /// Another living process renews this login; its result is waited for.
        case waitingForOwner
        /// From here until a reply is stored, the refresh token may be spent.
        case sending(RenewalClaim)
        /// No usable reply came; the same token is about to be sent again.
        case pausingBeforeReplay(RenewalClaim)
        /// The app is being asked for a token.
        case asking(RenewalClaim)
        /// New tokens are in memory and must reach the disk (D2). Only the commit leads out.
        case storing(RenewalClaim, RenewalReply, failures: Int)
        /// An outcome without tokens is being written.
        case recording(RenewalClaim, RenewalVerdict, failures: Int)
        case ended(Ending)
    }

    enum Event: Equatable, Sendable {
        case started
        /// D1 is durable.
        case claimed(RenewalClaim)
        /// Somebody has renewed meanwhile.
        case satisfied
        case refused(RenewalRefusal)
        case ownedElsewhere
        case pauseEnded
        case replied(RenewalReply)
        /// The write is durable.
        case stored
        /// The row had moved on: another chain, another generation, another fence, or no login any more. The tokens,
        /// if any, went to where such tokens go in the same transaction.
        case superseded
        /// The write did not happen, or it is not known to have happened.
        case storeFailed
        case closed
    }

    enum Effect: Equatable, Sendable {
        case claim
        case pause(Pause)
        case send(RenewalClaim)
        case ask(RenewalClaim)
        case store(RenewalClaim, RenewalReply)
        case record(RenewalClaim, RenewalVerdict)
        case openBreaker
        case closeBreaker
        case announceDeath
        case end(Ending)
    }

    enum Pause: Equatable, Sendable {
        case forOwner
        case beforeReplay
        case beforeStoringAgain(failures: Int)
    }

    enum Ending: Equatable, Sendable {
        case renewed
        /// Nothing was to be done any more.
        case satisfied
        /// Someone else's change came first; the row says what is true now.
        case superseded
        case refused(RenewalRefusal)
        case failed(RenewalVerdict)
        /// The new refresh token is safe, but no access token came with it.
        case successorOnly(RenewalReply.Defect)
    }

    private(set) var state: State = .idle
    private(set) var replaysMade = 0
    private(set) var hasRedeemedSuccessor = false

    /// An outcome that cannot be written after so many tries is left to the intent, which says *in doubt*.
    static let recordingTries = 5

    /// The one transition function.
    mutating func handle(_ event: Event) -> [Effect] {
        switch (state, event) {
        case (.idle, .started):
            return enter(.claiming, .claim)

        case (.claiming, .claimed(let claim)):
            switch claim.method {
            case .grant: return enter(.sending(claim), .send(claim))
            case .handler: return enter(.asking(claim), .ask(claim))
            }
        case (.claiming, .satisfied):
            return end(.satisfied)
        case (.claiming, .refused(let refusal)):
            return end(.refused(refusal))
        case (.claiming, .ownedElsewhere):
            return enter(.waitingForOwner, .pause(.forOwner))
        case (.claiming, .storeFailed):
            return end(.refused(.storeFailed))
        case (.claiming, .closed):
            return end(.refused(.closed))

        case (.waitingForOwner, .pauseEnded):
            return enter(.claiming, .claim)
        case (.waitingForOwner, .refused(let refusal)):
            return end(.refused(refusal))

        case (.sending(let claim), .replied(let reply)):
            return received(reply, for: claim)
        case (.pausingBeforeReplay(let claim), .pauseEnded):
            return enter(.sending(claim), .send(claim))
        case (.asking(let claim), .replied(let reply)):
            return received(reply, for: claim)

        case (.storing(_, let reply, _), .stored):
            return stored(reply)
        case (.storing, .superseded):
            return end(.superseded)
        case (.storing(let claim, let reply, let failures), .storeFailed):
            state = .storing(claim, reply, failures: failures + 1)
            return [.pause(.beforeStoringAgain(failures: failures + 1))]
        case (.storing(let claim, let reply, _), .pauseEnded):
            return [.store(claim, reply)]

        case (.recording(let claim, let verdict, _), .stored):
            return recorded(verdict, for: claim)
        case (.recording, .superseded):
            return end(.superseded)
        case (.recording(let claim, let verdict, let failures), .storeFailed):
            guard failures + 1 < Self.recordingTries else { return end(.failed(verdict)) }
            state = .recording(claim, verdict, failures: failures + 1)
            return [.pause(.beforeStoringAgain(failures: failures + 1))]
        case (.recording(let claim, let verdict, _), .pauseEnded):
            return [.record(claim, verdict)]

        case (.storing, .closed), (.recording, .closed):
            return end(.refused(.closed))

        // An event that the state does not await changes nothing.
        case (.idle, _), (.claiming, _), (.waitingForOwner, _), (.sending, _), (.pausingBeforeReplay, _),
            (.asking, _), (.storing, _), (.recording, _), (.ended, _):
            return []
        }
    }

    private mutating func received(_ reply: RenewalReply, for claim: RenewalClaim) -> [Effect] {
        switch reply {
        case .tokens, .successorOnly:
            return enter(.storing(claim, reply, failures: 0), .store(claim, reply))
        case .verdict(.inDoubt) where claim.method == .grant && replaysMade < claim.replays:
            // At once, because a server that forgives a replay forgives it for seconds only; no more often than its
            // profile allows, usually once, because each further replay is as likely to meet reuse detection.
            replaysMade += 1
            var replay = claim
            replay.isInDoubt = true
            return enter(.pausingBeforeReplay(replay), .pause(.beforeReplay))
        case .verdict(let verdict):
            return enter(.recording(claim, verdict, failures: 0), .record(claim, verdict))
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

    private mutating func recorded(_ verdict: RenewalVerdict, for claim: RenewalClaim) -> [Effect] {
        switch verdict {
        case .dead:
            return [.announceDeath] + end(.failed(verdict))
        case .misconfigured:
            return [.openBreaker] + end(.failed(verdict))
        case .needsUser, .transient, .inDoubt, .withdrawn:
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
