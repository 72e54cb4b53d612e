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
        position: ChainPosition(chain: 1, generation: 4), fence: 7, method: .grant, isInDoubt: true)
    static let handler = RenewalClaim(
        position: ChainPosition(chain: 2, generation: 1), fence: 8, method: .handler, isInDoubt: false)
    static let transient = RenewalVerdict.transient(retryAfter: .seconds(9), keepsDoubt: false, isRejection: false)
    static let dead = RenewalVerdict.dead(.deadGrant)

    static let states: [Machine.State] = [
        .idle, .claiming, .waitingForOwner, .sending(grant), .pausingBeforeReplay(doubtful), .asking(handler),
        .storing(grant, .tokens, failures: 0), .storing(grant, .tokens, failures: 3),
        .storing(grant, .successorOnly(.accessTokenMissing), failures: 0),
        .storing(grant, .successorOnly(.downgraded), failures: 0),
        .recording(grant, dead, failures: 0), .recording(grant, transient, failures: 4),
        .recording(grant, .misconfigured, failures: 0), .ended(.renewed),
    ]

    static let events: [Machine.Event] = [
        .started, .claimed(grant), .claimed(handler), .satisfied, .refused(.notRefreshable), .ownedElsewhere,
        .pauseEnded, .replied(.tokens), .replied(.successorOnly(.downgraded)), .replied(.verdict(dead)),
        .replied(.verdict(.inDoubt)), .replied(.verdict(transient)), .stored, .superseded, .storeFailed, .closed,
    ]

    static let table: [Row] =
        beginnings + attempts(.sending(grant), grant, canReplay: true)
        + attempts(.asking(handler), handler, canReplay: false)
        + storing + recording

    private static let beginnings: [Row] = [
        (.idle, .started, .claiming, [.claim]),
        (.claiming, .claimed(grant), .sending(grant), [.send(grant)]),
        (.claiming, .claimed(handler), .asking(handler), [.ask(handler)]),
        (.claiming, .satisfied, .ended(.satisfied), [.end(.satisfied)]),
        (.claiming, .refused(.notRefreshable), .ended(.refused(.notRefreshable)), [.end(.refused(.notRefreshable))]),
        (.claiming, .ownedElsewhere, .waitingForOwner, [.pause(.forOwner)]),
        (.claiming, .storeFailed, .ended(.refused(.storeFailed)), [.end(.refused(.storeFailed))]),
        (.claiming, .closed, .ended(.refused(.closed)), [.end(.refused(.closed))]),
        (.waitingForOwner, .pauseEnded, .claiming, [.claim]),
        (
            .waitingForOwner, .refused(.notRefreshable), .ended(.refused(.notRefreshable)),
            [.end(.refused(.notRefreshable))]
        ),
        (.pausingBeforeReplay(doubtful), .pauseEnded, .sending(doubtful), [.send(doubtful)]),
    ]

    private static func attempts(_ state: Machine.State, _ claim: RenewalClaim, canReplay: Bool) -> [Row] {
        var replay = claim
        replay.isInDoubt = true
        return [
            (state, .replied(.tokens), .storing(claim, .tokens, failures: 0), [.store(claim, .tokens)]),
            (
                state, .replied(.successorOnly(.downgraded)), .storing(claim, .successorOnly(.downgraded), failures: 0),
                [.store(claim, .successorOnly(.downgraded))]
            ),
            (state, .replied(.verdict(dead)), .recording(claim, dead, failures: 0), [.record(claim, dead)]),
            (
                state, .replied(.verdict(transient)), .recording(claim, transient, failures: 0),
                [.record(claim, transient)]
            ),
            canReplay
                ? (
                    state, .replied(.verdict(.inDoubt)), .pausingBeforeReplay(replay),
                    [.pause(.beforeReplay)]
                )
                : (
                    state, .replied(.verdict(.inDoubt)), .recording(claim, .inDoubt, failures: 0),
                    [.record(claim, .inDoubt)]
                ),
        ]
    }

    private static let storing: [Row] =
        [
            (.storing(grant, .tokens, failures: 0), .stored, .ended(.renewed), [.closeBreaker, .end(.renewed)]),
            (.storing(grant, .tokens, failures: 3), .stored, .ended(.renewed), [.closeBreaker, .end(.renewed)]),
            // The new refresh token is redeemed at once, once.
            (.storing(grant, .successorOnly(.accessTokenMissing), failures: 0), .stored, .claiming, [.claim]),
            (
                .storing(grant, .successorOnly(.downgraded), failures: 0), .stored, .ended(.successorOnly(.downgraded)),
                [.end(.successorOnly(.downgraded))]
            ),
        ]
        + states.flatMap { state -> [Row] in
            guard case .storing(let claim, let reply, let failures) = state else { return [] }
            // Whatever fails, however often: new tokens are kept until they are stored, or belong to nobody.
            return [
                (state, .superseded, .ended(.superseded), [.end(.superseded)]),
                (
                    state, .storeFailed, .storing(claim, reply, failures: failures + 1),
                    [.pause(.beforeStoringAgain(failures: failures + 1))]
                ),
                (state, .pauseEnded, state, [.store(claim, reply)]),
                (state, .closed, .ended(.refused(.closed)), [.end(.refused(.closed))]),
            ]
        }

    private static let recording: [Row] =
        [
            (
                .recording(grant, dead, failures: 0), .stored, .ended(.failed(dead)),
                [.announceDeath, .end(.failed(dead))]
            ),
            (
                .recording(grant, transient, failures: 4), .stored, .ended(.failed(transient)),
                [.end(.failed(transient))]
            ),
            (
                .recording(grant, .misconfigured, failures: 0), .stored, .ended(.failed(.misconfigured)),
                [.openBreaker, .end(.failed(.misconfigured))]
            ),
            // The fifth failure leaves it to the intent.
            (
                .recording(grant, transient, failures: 4), .storeFailed, .ended(.failed(transient)),
                [.end(.failed(transient))]
            ),
            (
                .recording(grant, dead, failures: 0), .storeFailed, .recording(grant, dead, failures: 1),
                [.pause(.beforeStoringAgain(failures: 1))]
            ),
            (
                .recording(grant, .misconfigured, failures: 0), .storeFailed,
                .recording(grant, .misconfigured, failures: 1),
                [.pause(.beforeStoringAgain(failures: 1))]
            ),
        ]
        + states.flatMap { state -> [Row] in
            guard case .recording(let claim, let verdict, _) = state else { return [] }
            return [
                (state, .superseded, .ended(.superseded), [.end(.superseded)]),
                (state, .pauseEnded, state, [.record(claim, verdict)]),
                (state, .closed, .ended(.refused(.closed)), [.end(.refused(.closed))]),
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
    }

    @Test func aDoubtfulAttemptIsRepeatedOnce() {
        var machine = Machine(state: .sending(Self.grant))
        #expect(machine.handle(.replied(.verdict(.inDoubt))) == [.pause(.beforeReplay)])
        #expect(machine.handle(.pauseEnded) == [.send(Self.doubtful)])
        #expect(machine.handle(.replied(.verdict(.inDoubt))) == [.record(Self.doubtful, .inDoubt)])
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

    /// However events come, an attempt ends, and never without an effect that answers.
    @Test func everyTransitionThatIsNotTheEndAsksForOneAnswer() {
        for row in Self.table {
            let answering = row.effects.filter { effect in
                switch effect {
                case .claim, .pause, .send, .ask, .store, .record: true
                case .openBreaker, .closeBreaker, .announceDeath, .end: false
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
