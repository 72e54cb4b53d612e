import Testing
import VaultStorage

@testable import TokenVault

/// When a provider is left alone that has refused our client, or logins one after the other.
struct BreakerTests {
    private let now = Timestamp(milliseconds: 1_000_000)

    /// Refused in the moment that it is.
    private func open(_ breaker: inout Breaker, revision: Int64 = 1, at time: Timestamp? = nil) {
        breaker.open(revision: revision, now: time ?? now, random: 1, moment: breaker.moment)
    }

    private func refuse(
        _ breaker: inout Breaker, _ login: LoginHandle = .random(), isClean: Bool = true, revision: Int64 = 1,
        at time: Timestamp? = nil
    ) -> Bool {
        breaker.noteRefusal(
            of: login, isClean: isClean, revision: revision, now: time ?? now, random: 1, moment: breaker.moment)
    }

    @Test func pausesDoubleUpToAQuarterOfAnHour() {
        var breaker = Breaker()
        #expect(breaker.openUntil(revision: 1, now: now) == nil)
        open(&breaker)
        #expect(breaker.openUntil(revision: 1, now: now) == now.advanced(by: .seconds(30)))
        open(&breaker)
        #expect(breaker.openUntil(revision: 1, now: now) == now.advanced(by: .seconds(60)))
        for _ in 0..<20 { open(&breaker) }
        #expect(breaker.openUntil(revision: 1, now: now) == now.advanced(by: .seconds(900)))
        breaker.succeed()
        #expect(breaker.openUntil(revision: 1, now: now) == nil)
    }

    /// Sixteen renewals in flight, and a server that is confused for a moment.
    @Test func whatWasInFlightTogetherCountsOnce() {
        var breaker = Breaker()
        let moment = breaker.moment
        for _ in 0..<16 { breaker.open(revision: 1, now: now, random: 1, moment: moment) }
        #expect(breaker.openUntil(revision: 1, now: now) == now.advanced(by: .seconds(30)))

        var other = Breaker()
        let first = other.moment
        for _ in 0..<16 {
            let isOpened = other.noteRefusal(
                of: .random(), isClean: true, revision: 1, now: now, random: 1, moment: first)
            #expect(!isOpened)
        }
        #expect(other.openUntil(revision: 1, now: now) == nil)
    }

    @Test func aSuccessMakesWhatWasSentBeforeItOldNews() {
        var breaker = Breaker()
        let moment = breaker.moment
        breaker.succeed()
        breaker.open(revision: 1, now: now, random: 1, moment: moment)
        #expect(breaker.openUntil(revision: 1, now: now) == nil)
    }

    @Test func oneProbesAndTheOthersWait() {
        var breaker = Breaker()
        #expect(breaker.probe(revision: 1, now: now) == nil)
        #expect(breaker.probe(revision: 1, now: now) == nil)
        open(&breaker)
        #expect(breaker.probe(revision: 1, now: now) == now.advanced(by: .seconds(30)))
        let later = now.advanced(by: .seconds(30))
        #expect(breaker.isHalfOpen(now: later))
        #expect(breaker.probe(revision: 1, now: later) == nil)
        #expect(breaker.probe(revision: 1, now: later) == later.advanced(by: .seconds(30)))
        breaker.probeEnded(now: later)
        #expect(breaker.probe(revision: 1, now: later) == later.advanced(by: .seconds(2)))
    }

    @Test func aChangedRegistrationVoidsIt() {
        var breaker = Breaker()
        open(&breaker)
        #expect(breaker.openUntil(revision: 2, now: now) == nil)
        #expect(breaker.probe(revision: 2, now: now) == nil)
        open(&breaker, revision: 2)
        #expect(breaker.openUntil(revision: 2, now: now) == now.advanced(by: .seconds(30)))
    }

    @Test func anOldRegistrationSaysNothing() {
        var breaker = Breaker()
        #expect(!refuse(&breaker, revision: 2))
        #expect(!refuse(&breaker, revision: 2))
        #expect(!refuse(&breaker, revision: 1))
        open(&breaker, revision: 1)
        #expect(breaker.openUntil(revision: 2, now: now) == nil)
        #expect(refuse(&breaker, revision: 2))
    }

    @Test func oneLoginAloneStopsNoOther() {
        var breaker = Breaker()
        let login = LoginHandle.random()
        for _ in 0..<100 { #expect(!refuse(&breaker, login)) }
        #expect(!refuse(&breaker))
        #expect(refuse(&breaker))
        #expect(breaker.openUntil(revision: 1, now: now) == now.advanced(by: .seconds(2)))
    }

    @Test func aLoginThatWasRefusedBeforeIsNoWitness() {
        var breaker = Breaker()
        for _ in 0..<100 { #expect(!refuse(&breaker, isClean: false)) }
        #expect(breaker.openUntil(revision: 1, now: now) == nil)
    }

    /// Clean ones go first; a probe of another changes nothing for them.
    @Test func aLoginThatWasRefusedBeforeProbesLast() {
        var breaker = Breaker()
        open(&breaker)
        let later = now.advanced(by: .seconds(30))
        #expect(breaker.probe(revision: 1, now: later, isClean: false) == later.advanced(by: .seconds(10)))
        let last = later.advanced(by: .seconds(10))
        #expect(breaker.probe(revision: 1, now: last, isClean: false) == nil)
        #expect(!refuse(&breaker, isClean: false, at: last))
        // The next of them waits longer, a clean one not at all.
        #expect(breaker.openUntil(revision: 1, now: last, isClean: false) == last.advanced(by: .seconds(20)))
        #expect(breaker.probe(revision: 1, now: last) == nil)
    }

    /// Dead logins are gone through soon; a provider that refuses all of them is left alone at last.
    @Test func refusedLoginsProbeSoonAndThenSeldom() {
        var breaker = Breaker()
        var time = now
        var pauses: [Duration] = []
        for _ in 0..<50 {
            guard refuse(&breaker, at: time), let until = breaker.openUntil(revision: 1, now: time) else { continue }
            pauses.append(until.since(time))
            time = until
            #expect(breaker.probe(revision: 1, now: time) == nil)
        }
        #expect(pauses.prefix(Breaker.quickProbes).allSatisfy { $0 == .seconds(2) })
        #expect(pauses.prefix(20).reduce(.zero, +) < .seconds(120))
        #expect(pauses.last == .seconds(900))
    }

    @Test func whatTheVaultSaysIsFollowed() {
        var breaker = Breaker()
        breaker.follow(isStopped: true, revision: 1, now: now)
        #expect(breaker.isStopped)
        // Who learns it from the vault may try, even a login that was refused before; one at a time.
        #expect(breaker.openUntil(revision: 1, now: now, isClean: false) == nil)
        #expect(breaker.probe(revision: 1, now: now) == nil)
        #expect(breaker.probe(revision: 1, now: now) == now.advanced(by: .seconds(30)))
        // That the client is taken is not about its logins.
        breaker.close()
        #expect(breaker.isStopped)
        breaker.follow(isStopped: false, revision: 1, now: now)
        #expect(breaker.openUntil(revision: 1, now: now) == nil)
    }

    @Test func aClockThatIsSetBackOpensIt() {
        var breaker = Breaker()
        open(&breaker)
        let before = now.advanced(by: .seconds(-86_400))
        #expect(breaker.openUntil(revision: 1, now: before) == nil)
    }
}
