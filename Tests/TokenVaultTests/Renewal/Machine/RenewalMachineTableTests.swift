import Testing
import VaultStorage

@testable import TokenVault

/// The whole transition function: every state against every event. What the table does not list must change nothing.
struct RenewalMachineTableTests {
    typealias Machine = RenewalMachine
    typealias Row = (state: Machine.State, event: Machine.Event, next: Machine.State, effects: [Machine.Effect])

    static let grant = RenewalClaim(
        position: ChainPosition(chain: 1, generation: 4), fence: 7, method: .grant, isInDoubt: false)
    static let doubtful = RenewalClaim(
        position: ChainPosition(chain: 1, generation: 4), fence: 7, method: .grant, isInDoubt: true, tries: 2)
    static let unsent = RenewalClaim(
        position: ChainPosition(chain: 1, generation: 4), fence: 7, method: .grant, isInDoubt: true, tries: 1)
    static let handler = RenewalClaim(
        position: ChainPosition(chain: 2, generation: 1), fence: 8, method: .handler, isInDoubt: false)
    static let session = RenewalClaim(
        position: ChainPosition(chain: 2, generation: 3), fence: 9, method: .session, isInDoubt: false, tries: 0)
    static let transient = RenewalFailure.transient(retryAfter: .seconds(9), doubt: nil, isRejection: false)
    static let unprocessed = RenewalFailure.unprocessed(retryAfter: .seconds(9), doubt: nil)
    static let dead = RenewalFailure.dead(.deadGrant)
    static let replayable = RenewalFailure.inDoubt(mayReplay: true)
    static let lost = RenewalFailure.inDoubt(mayReplay: false)

    static let states: [Machine.State] = [
        .idle, .claiming, .waitingForOwner, .sending(grant), .pausingBeforeReplay(doubtful), .notingReplay(doubtful),
        .asking(handler), .asking(session), .exchanging(session),
        .storing(grant, .tokens, failures: 0, isSpooled: false),
        .storing(grant, .tokens, failures: 3, isSpooled: true),
        .storing(grant, .successorOnly(.accessTokenMissing), failures: 0, isSpooled: false),
        .storing(grant, .successorOnly(.downgraded), failures: 2, isSpooled: true),
        .spooling(grant, .tokens, failures: 1, last: nil), .spooling(grant, .tokens, failures: 1, last: .closed),
        .recording(grant, dead, failures: 0), .recording(grant, transient, failures: 4),
        .recording(grant, .clientRefused, failures: 0), .recording(grant, .misconfigured, failures: 0),
        .recording(grant, unprocessed, failures: 0), .recording(grant, .targetRefused, failures: 0),
        .recording(grant, .notSent(.tooLate), failures: 0),
        .recording(grant, .notSent(.changed), failures: 0), .recording(grant, .notSent(.ownershipLost), failures: 0),
        .ended(.renewed),
    ]

    static let events: [Machine.Event] = [
        .started, .claimed(grant), .claimed(handler), .claimed(session), .consented, .authTokenGiven, .satisfied,
        .refused(.notRefreshable), .gaveUp, .ownedElsewhere,
        .pauseEnded, .replied(.tokens), .replied(.successorOnly(.downgraded)), .replied(.verdict(dead)),
        .replied(.verdict(replayable)), .replied(.verdict(lost)), .replied(.verdict(transient)),
        .replied(.verdict(.notSent(.tooLate))), .stored, .superseded, .otherTokenTaken, .storeFailed, .spooled,
        .spoolFailed, .closed, .ownershipLost,
    ]

    static let table: [Row] =
        beginnings + attempts(.sending(grant), grant, canReplay: true)
        + attempts(.asking(handler), handler, canReplay: false)
        + attempts(.asking(session), session, canReplay: false)
        + attempts(.exchanging(session), session, canReplay: false) + asking
        + storing + spooling + recording

    private static func ends(_ state: Machine.State, _ event: Machine.Event, _ ending: Machine.Ending) -> Row {
        (state, event, .ended(ending), [.end(ending)])
    }

    private static let beginnings: [Row] = [
        (.idle, .started, .claiming, [.claim]),
        (.claiming, .claimed(grant), .sending(grant), [.send(grant)]),
        (.claiming, .claimed(handler), .asking(handler), [.ask(handler)]),
        (.claiming, .claimed(session), .asking(session), [.ask(session)]),
        ends(.claiming, .satisfied, .satisfied),
        ends(.claiming, .refused(.notRefreshable), .refused(.notRefreshable)),
        (
            .claiming, .gaveUp, .ended(.refused(.dead(.lostResponse))),
            [.announceRefreshFailed, .end(.refused(.dead(.lostResponse)))]
        ),
        (.claiming, .ownedElsewhere, .waitingForOwner, [.pause(.forOwner)]),
        ends(.claiming, .storeFailed, .refused(.storeFailed)),
        ends(.claiming, .closed, .refused(.closed)),
        ends(.claiming, .ownershipLost, .refused(.ownershipLost)),
        (.waitingForOwner, .pauseEnded, .claiming, [.claim]),
        ends(.waitingForOwner, .refused(.notRefreshable), .refused(.notRefreshable)),
        ends(.waitingForOwner, .closed, .refused(.closed)),
        (.pausingBeforeReplay(doubtful), .pauseEnded, .notingReplay(doubtful), [.noteReplay(doubtful)]),
        (.notingReplay(doubtful), .stored, .sending(doubtful), [.send(doubtful)]),
        ends(.notingReplay(doubtful), .superseded, .superseded),
        // What could not be noted is not sent.
        (.notingReplay(doubtful), .storeFailed, .recording(unsent, lost, failures: 0), [.record(unsent, lost)]),
        ends(.notingReplay(doubtful), .closed, .refused(.closed)),
        ends(.notingReplay(doubtful), .ownershipLost, .refused(.ownershipLost)),
    ]

    private static let asking: [Row] = [
        // The app's consent spends nothing: a claim that may comes after it.
        (.asking(session), .consented, .claiming, [.claim]),
        (.asking(session), .authTokenGiven, .exchanging(session), [.exchange(session)]),
    ]

    private static func attempts(_ state: Machine.State, _ claim: RenewalClaim, canReplay: Bool) -> [Row] {
        var replay = claim
        replay.isInDoubt = true
        replay.tries += 1
        func recorded(_ verdict: RenewalFailure) -> Row {
            (state, .replied(.verdict(verdict)), .recording(claim, verdict, failures: 0), [.record(claim, verdict)])
        }
        func stored(_ reply: RenewalReply) -> Row {
            (
                state, .replied(reply), .storing(claim, reply, failures: 0, isSpooled: false),
                [.store(claim, reply)]
            )
        }
        return [
            stored(.tokens), stored(.successorOnly(.downgraded)), recorded(dead), recorded(transient), recorded(lost),
            recorded(.notSent(.tooLate)),
            canReplay
                ? (state, .replied(.verdict(replayable)), .pausingBeforeReplay(replay), [.pause(.beforeReplay)])
                : recorded(replayable),
        ]
    }

    private static let storing: [Row] = states.flatMap { state -> [Row] in
        guard case .storing(let claim, let reply, let failures, let isSpooled) = state else { return [] }
        let unspool: [Machine.Effect] = isSpooled ? [.unspool] : []
        let stored: Row =
            switch reply {
            case .tokens, .verdict:
                (state, .stored, .ended(.renewed), unspool + [.closeBreaker, .end(.renewed)])
            // The new refresh token is redeemed at once, once.
            case .successorOnly(.accessTokenMissing): (state, .stored, .claiming, unspool + [.claim])
            case .successorOnly(let defect):
                (state, .stored, .ended(.successorOnly(defect)), unspool + [.end(.successorOnly(defect))])
            }
        func last(_ event: Machine.Event, _ refusal: RenewalRefusal) -> Row {
            isSpooled
                ? ends(state, event, .refused(refusal))
                : (state, event, .spooling(claim, reply, failures: failures, last: refusal), [.spool(claim)])
        }
        // Whatever fails, however often: new tokens are kept until they are stored, or belong to nobody.
        return [
            stored, (state, .superseded, .ended(.superseded), unspool + [.end(.superseded)]),
            isSpooled
                ? (
                    state, .storeFailed, .storing(claim, reply, failures: failures + 1, isSpooled: true),
                    [.pause(.beforeStoringAgain(failures: failures + 1))]
                )
                : (
                    state, .storeFailed, .spooling(claim, reply, failures: failures + 1, last: nil), [.spool(claim)]
                ),
            (state, .pauseEnded, state, [.store(claim, reply)]),
            last(.closed, .closed), last(.ownershipLost, .ownershipLost),
        ]
    }

    private static let spooling: [Row] = [
        (
            .spooling(grant, .tokens, failures: 1, last: nil), .spooled,
            .storing(grant, .tokens, failures: 1, isSpooled: true),
            [.serveSpooled(grant), .pause(.beforeStoringAgain(failures: 1))]
        ),
        // Nobody gets tokens that are in memory only.
        (
            .spooling(grant, .tokens, failures: 1, last: nil), .spoolFailed,
            .storing(grant, .tokens, failures: 1, isSpooled: false), [.pause(.beforeStoringAgain(failures: 1))]
        ),
        ends(.spooling(grant, .tokens, failures: 1, last: .closed), .spooled, .refused(.closed)),
        ends(.spooling(grant, .tokens, failures: 1, last: .closed), .spoolFailed, .refused(.closed)),
    ]

    private static let recording: [Row] = states.flatMap { state -> [Row] in
        guard case .recording(let claim, let verdict, let failures) = state else { return [] }
        let stored: Row =
            switch verdict {
            case .dead: (state, .stored, .ended(.failed(verdict)), [.announceRefreshFailed, .end(.failed(verdict))])
            case .clientRefused: (state, .stored, .ended(.failed(verdict)), [.openBreaker, .end(.failed(verdict))])
            case .misconfigured: (state, .stored, .ended(.failed(verdict)), [.countRefusal, .end(.failed(verdict))])
            case .needsUser: (state, .stored, .ended(.failed(verdict)), [.announceNeed, .end(.failed(verdict))])
            case .targetRefused:
                (state, .stored, .ended(.failed(verdict)), [.noteRefusedTarget, .end(.failed(verdict))])
            // Given back: begun again.
            case .notSent(.tooLate), .notSent(.changed): (state, .stored, .claiming, [.claim])
            default: ends(state, .stored, .failed(verdict))
            }
        return [
            stored, ends(state, .superseded, .superseded),
            // The provider has ended too many to be believed.
            (
                state, .refused(.notRefreshable), .ended(.refused(.notRefreshable)),
                [.countRefusal, .end(.refused(.notRefreshable))]
            ), (state, .otherTokenTaken, .claiming, [.claim]),
            // The fifth failure leaves it to the intent.
            failures == 4
                ? ends(state, .storeFailed, .failed(verdict))
                : (
                    state, .storeFailed, .recording(claim, verdict, failures: failures + 1),
                    [.pause(.beforeStoringAgain(failures: failures + 1))]
                ),
            (state, .pauseEnded, state, [.record(claim, verdict)]),
            ends(state, .closed, .refused(.closed)), ends(state, .ownershipLost, .refused(.ownershipLost)),
        ]
    }

    @Test func everyPairOfStateAndEventDoesWhatTheTableSays() {
        var listed = 0
        for state in Self.states {
            for event in Self.events {
                let rows = Self.table.filter { $0.state == state && $0.event == event }
                #expect(rows.count <= 1, "\(state) \(event) is listed twice")
                listed += rows.count
                var machine = Machine(state: state)
                let effects = machine.handle(event)
                #expect(machine.state == rows.first?.next ?? state, "\(state) \(event)")
                #expect(effects == rows.first?.effects ?? [], "\(state) \(event)")
            }
        }
        #expect(listed == Self.table.count, "the table has rows that no state and event reach")
        print("renewal machine: \(Self.states.count) states × \(Self.events.count) events, \(listed) transitions")
    }

    @Test func doubtfulAttemptIsReplayedAtMostThreeTimes() {
        var machine = Machine(state: .sending(Self.grant))
        for replay in 1...3 {
            #expect(machine.handle(.replied(.verdict(Self.replayable))) == [.pause(.beforeReplay)])
            guard case .pausingBeforeReplay(let claim) = machine.state else {
                Issue.record("no replay")
                return
            }
            #expect(claim.isInDoubt)
            #expect(claim.tries == 1 + replay)
            #expect(machine.handle(.pauseEnded) == [.noteReplay(claim)])
            #expect(machine.handle(.stored) == [.send(claim)])
        }
        let effects = machine.handle(.replied(.verdict(Self.replayable)))
        guard case .record(_, Self.replayable) = effects.first else {
            Issue.record("a fourth replay")
            return
        }
    }

    @Test func aSuccessorIsRedeemedOnce() {
        var machine = Machine(state: .sending(Self.grant))
        let reply = RenewalReply.successorOnly(.accessTokenMissing)
        _ = machine.handle(.replied(reply))
        #expect(machine.handle(.stored) == [.claim])
        _ = machine.handle(.claimed(Self.grant))
        _ = machine.handle(.replied(reply))
        #expect(machine.handle(.stored) == [.end(.successorOnly(.accessTokenMissing))])
    }

    @Test func anotherTokenIsTriedOnce() {
        var machine = Machine(state: .sending(Self.grant))
        _ = machine.handle(.replied(.verdict(Self.dead)))
        #expect(machine.handle(.otherTokenTaken) == [.claim])
        _ = machine.handle(.claimed(Self.grant))
        _ = machine.handle(.replied(.verdict(Self.dead)))
        #expect(machine.handle(.otherTokenTaken) == [.end(.superseded)])
    }

    @Test func theAppIsAskedOnceForEachRenewal() {
        var machine = Machine(state: .claiming)
        #expect(machine.mayAsk)
        _ = machine.handle(.claimed(Self.session))
        #expect(machine.handle(.consented) == [.claim])
        #expect(!machine.mayAsk)
    }

    @Test func intentsAreGivenBackThreeTimes() {
        var machine = Machine(state: .claiming)
        let verdict = RenewalFailure.notSent(.tooLate)
        for _ in 0..<3 {
            _ = machine.handle(.claimed(Self.grant))
            _ = machine.handle(.replied(.verdict(verdict)))
            #expect(machine.handle(.stored) == [.claim])
        }
        _ = machine.handle(.claimed(Self.grant))
        _ = machine.handle(.replied(.verdict(verdict)))
        #expect(machine.handle(.stored) == [.end(.failed(verdict))])
    }

    /// However events come, an attempt ends, and never without an effect that answers.
    @Test func everyTransitionThatIsNotTheEndAsksForOneAnswer() {
        for row in Self.table {
            let answering = row.effects.filter { effect in
                switch effect {
                case .claim, .pause, .noteReplay, .send, .ask, .exchange, .store, .spool, .record: true
                case .serveSpooled, .unspool, .openBreaker, .countRefusal, .closeBreaker, .noteRefusedTarget,
                    .announceRefreshFailed, .announceNeed, .end:
                    false
                }
            }
            if case .ended = row.next {
                #expect(answering.isEmpty)
            } else {
                #expect(answering.count == 1, "\(row.state) \(row.event)")
            }
        }
    }
}
