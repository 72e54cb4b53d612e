import Testing
import VaultStorage

@testable import TokenVault

/// When a provider is left alone that has refused our client.
struct BreakerTests {
    private let now = Timestamp(milliseconds: 1_000_000_000)

    @Test func itOpensForLongerEachTimeAndClosesWithASuccess() {
        var breaker = Breaker()
        #expect(breaker.openUntil(revision: 1, now: now) == nil)
        breaker.open(revision: 1, now: now, random: 1)
        #expect(breaker.openUntil(revision: 1, now: now) == now.advanced(by: .seconds(30)))
        breaker.open(revision: 1, now: now, random: 1)
        #expect(breaker.openUntil(revision: 1, now: now) == now.advanced(by: .seconds(60)))
        for _ in 0..<20 { breaker.open(revision: 1, now: now, random: 1) }
        #expect(breaker.openUntil(revision: 1, now: now) == now.advanced(by: .seconds(900)))
        breaker = Breaker()
        #expect(breaker.openUntil(revision: 1, now: now) == nil)
    }

    @Test func oneProbesAndTheOthersWait() {
        var breaker = Breaker()
        #expect(breaker.probe(revision: 1, now: now) == nil)
        #expect(breaker.probe(revision: 1, now: now) == nil)
        breaker.open(revision: 1, now: now, random: 1)
        #expect(breaker.probe(revision: 1, now: now) == now.advanced(by: .seconds(30)))
        let later = now.advanced(by: .seconds(30))
        #expect(breaker.openUntil(revision: 1, now: later) == nil)
        #expect(breaker.probe(revision: 1, now: later) == nil)
        #expect(breaker.probe(revision: 1, now: later) == later.advanced(by: .seconds(30)))
    }

    @Test func aChangedRegistrationBeginsAnew() {
        var breaker = Breaker()
        breaker.open(revision: 1, now: now, random: 1)
        #expect(breaker.openUntil(revision: 2, now: now) == nil)
        #expect(breaker.probe(revision: 2, now: now) == nil)
        breaker.open(revision: 2, now: now, random: 1)
        #expect(breaker.openUntil(revision: 2, now: now) == now.advanced(by: .seconds(30)))
    }

    /// A renewal that was begun before the change is refused after it: that says nothing of the new registration.
    @Test func refusalsOfAnOldRegistrationDoNotCount() {
        var breaker = Breaker()
        #expect(breaker.noteRefusal(of: .random(), revision: 2) == false)
        #expect(breaker.noteRefusal(of: .random(), revision: 2) == false)
        #expect(breaker.noteRefusal(of: .random(), revision: 1) == false)
        breaker.open(revision: 1, now: now, random: 1)
        #expect(breaker.openUntil(revision: 1, now: now) == nil)
        #expect(breaker.noteRefusal(of: .random(), revision: 2) == true)
    }

    @Test func oneLoginAloneNeverOpensIt() {
        var breaker = Breaker()
        let login = LoginHandle.random()
        for _ in 0..<100 { #expect(breaker.noteRefusal(of: login, revision: 1) == false) }
        #expect(breaker.noteRefusal(of: .random(), revision: 1) == false)
        #expect(breaker.noteRefusal(of: .random(), revision: 1) == true)
        // Whose probe is refused keeps it open.
        #expect(breaker.noteRefusal(of: login, revision: 1) == true)
    }

    /// It was opened by a clock that has been set back since.
    @Test func anEndThatIsTooFarAwayIsNone() {
        var breaker = Breaker()
        breaker.open(revision: 1, now: now, random: 1)
        let before = now.advanced(by: .seconds(-86_400))
        #expect(breaker.openUntil(revision: 1, now: before) == nil)
    }
}
