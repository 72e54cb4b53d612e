import Testing

@testable import TokenVault

@Suite(.timeLimit(.minutes(5)))
struct MailboxTests {
    private static func counting(_ limit: Int) -> Mailbox<Int> { Mailbox(limit: limit, overflow: .count { -$0 }) }

    @Test func whatFitsComesInOrder() async {
        let mailbox = Self.counting(3)
        for number in 1...3 { mailbox.put(number) }
        for number in 1...3 { #expect(await mailbox.next() == number) }
    }

    @Test func whatDoesNotFitIsCountedAfterWhatWasKept() async {
        let mailbox = Self.counting(2)
        for number in 1...5 { mailbox.put(number) }
        #expect(await mailbox.next() == 1)
        // Room again, but not before the gap has been told.
        mailbox.put(6)
        #expect(mailbox.takeAll() == [2, -4])
        mailbox.put(7)
        #expect(mailbox.takeAll() == [7])
    }

    @Test func theNewestStateAlwaysArrives() {
        let mailbox = Mailbox<Int>(limit: 2, overflow: .dropOldest)
        for number in 1...5 { mailbox.put(number) }
        #expect(mailbox.takeAll() == [4, 5])
    }

    @Test func aReaderThatWaitsIsServed() async {
        let mailbox = Self.counting(1)
        async let element = mailbox.next()
        mailbox.put(1)
        #expect(await element == 1)
    }

    @Test func aGapReachesAReaderThatWaits() async {
        let mailbox = Self.counting(1)
        async let element = mailbox.next()
        mailbox.miss(3)
        #expect(await element == -3)
    }

    @Test func theEndComesAfterWhatWasKept() async {
        let mailbox = Self.counting(2)
        mailbox.put(1)
        mailbox.finish()
        mailbox.put(2)
        #expect(await mailbox.next() == 1)
        #expect(await mailbox.next() == nil)
    }

    @Test func aCancelledReaderGetsTheEnd() async {
        let mailbox = Self.counting(2)
        let reader = Task { await mailbox.next() }
        reader.cancel()
        #expect(await reader.value == nil)
    }
}
