import Testing

@testable import TokenVault

struct EventBufferTests {
    private static func counting(_ limit: Int) -> EventBuffer<Int> {
        EventBuffer(limit: limit, overflow: .count { -$0 })
    }

    @Test func whatFitsComesInOrder() async {
        let buffer = Self.counting(3)
        for number in 1...3 { buffer.put(number) }
        for number in 1...3 { #expect(await buffer.next() == number) }
    }

    @Test func whatDoesNotFitIsCountedAfterWhatWasKept() async {
        let buffer = Self.counting(2)
        for number in 1...5 { buffer.put(number) }
        #expect(await buffer.next() == 1)
        // Room again, but not before the gap has been reported.
        buffer.put(6)
        #expect(buffer.takeAll() == [2, -4])
        buffer.put(7)
        #expect(buffer.takeAll() == [7])
    }

    @Test func theNewestStateAlwaysArrives() {
        let buffer = EventBuffer<Int>(limit: 2, overflow: .dropOldest)
        for number in 1...5 { buffer.put(number) }
        #expect(buffer.takeAll() == [4, 5])
    }

    @Test func aReaderThatWaitsIsServed() async {
        let buffer = Self.counting(1)
        async let element = buffer.next()
        buffer.put(1)
        #expect(await element == 1)
    }

    @Test func aGapReachesAReaderThatWaits() async {
        let buffer = Self.counting(1)
        async let element = buffer.next()
        buffer.miss(3)
        #expect(await element == -3)
    }

    @Test func theEndComesAfterWhatWasKept() async {
        let buffer = Self.counting(2)
        buffer.put(1)
        buffer.finish()
        buffer.put(2)
        #expect(await buffer.next() == 1)
        #expect(await buffer.next() == nil)
    }

    @Test func aCancelledReaderGetsTheEnd() async {
        let buffer = Self.counting(2)
        let reader = Task { await buffer.next() }
        reader.cancel()
        #expect(await reader.value == nil)
    }
}
