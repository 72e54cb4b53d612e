import Testing

@testable import VaultSQLite
@testable import VaultStorage

struct CheckpointScheduleTests {
    @Test func timeLimitGrowsWithTheWAL() {
        let expected: [(Int32, Duration?)] = [
            (0, nil), (249, nil), (250, .milliseconds(4)), (499, .milliseconds(4)), (500, .milliseconds(50)),
            (7_999, .milliseconds(50)), (8_000, .milliseconds(2_500)), (1_000_000, .milliseconds(2_500)),
        ]
        for (pages, timeLimit) in expected {
            var schedule = CheckpointSchedule()
            #expect(schedule.timeLimit(at: pages, waited: .zero) == timeLimit, "\(pages)")
        }
    }

    @Test func batchesThatFollowEachOtherShareACheckpoint() {
        let expected: [(Int32, Duration?)] = [(250, nil), (9_999, nil), (10_000, .milliseconds(2_500))]
        for (pages, timeLimit) in expected {
            var schedule = CheckpointSchedule()
            #expect(schedule.timeLimit(at: pages, waited: .zero, isBatch: true) == timeLimit, "\(pages)")
        }
        // The first change after them does not wait for so many pages.
        var schedule = CheckpointSchedule()
        #expect(schedule.timeLimit(at: 7_999, waited: .zero, isBatch: true) == nil)
        #expect(schedule.timeLimit(at: 7_999, waited: .zero) == .milliseconds(50))
    }

    /// A snapshot that is never ended costs the writers some pauses, and no more of them the longer it lasts.
    @Test func triesBecomeRarerWhileSomebodyIsInTheWay() {
        var schedule = CheckpointSchedule()
        var pauses: [Int32] = []
        for pages in Int32(1)...1_000_000 {
            guard let timeLimit = schedule.timeLimit(at: pages, waited: .zero) else { continue }
            if timeLimit > .seconds(1) { pauses.append(pages) }
            schedule.note(pages.isMultiple(of: 2) ? .incomplete : .complete, at: pages)
        }
        #expect(zip(pauses, pauses.dropFirst()).allSatisfy { $1 >= $0 + $0 / 5 })
        #expect(pauses.count < 25)
        // At least three before 64 MiB.
        #expect(pauses.filter { $0 < 16_384 }.count >= 3)
    }

    @Test func aNeighboursTimeLimitIsEnough() {
        var schedule = CheckpointSchedule()
        #expect(schedule.timeLimit(at: 9_000, waited: .seconds(2)) == nil)
        #expect(schedule.timeLimit(at: 9_001, waited: .zero) == nil)
        #expect(schedule.timeLimit(at: 12_000, waited: .zero) == .milliseconds(2_500))
        // Who waited because there are many writers still takes his turn while the WAL is small.
        #expect(schedule.timeLimit(at: 249, waited: .zero) == nil)
        #expect(schedule.timeLimit(at: 300, waited: .seconds(2)) == .milliseconds(4))
    }

    @Test func aWALThatBeginsAnewIsLeftAloneUntilTheThreshold() {
        var schedule = CheckpointSchedule()
        #expect(schedule.timeLimit(at: 300, waited: .zero) != nil)
        schedule.note(.incomplete, at: 300)
        #expect(schedule.timeLimit(at: 301, waited: .zero) == nil)
        #expect(schedule.timeLimit(at: 10, waited: .zero) == nil)
        #expect(schedule.timeLimit(at: 250, waited: .zero) != nil)
        schedule.note(.restartable, at: 250)
        #expect(schedule.next == CheckpointSchedule.threshold)
    }
}
