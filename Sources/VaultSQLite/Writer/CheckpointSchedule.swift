import VaultStorage

/// When a checkpoint is due, and how long writers wait for it. Sizes are in pages of 4 KiB.
///
/// The wait has two parts. First, for readers whose snapshot is older than the last commit, so that the whole WAL can
/// be copied. Then for those that read from the WAL, so that it can restart. Readers of this library take less than a
/// millisecond. Other programs may take longer. Where their snapshots overlap without a gap, only a pause of the
/// writers lets the WAL restart: so the pause gets longer as the WAL grows, and rarer at the same time.
struct CheckpointSchedule {
    /// 1 MiB.
    static let threshold: Int32 = 250
    /// 39 MiB, while big batches follow each other: pages that several of them change are copied once.
    static let thresholdOfBatches: Int32 = 10_000
    /// 27 MiB, two or three batches earlier: from here on, the WAL is copied while the next batch runs.
    static let copiedBesideBatches: Int32 = 7_000
    /// In bytes. A process that finds a longer WAL moves it into the database file before its first commit: a series of
    /// processes may each have ended before a checkpoint was due.
    static let leftover = 512 * 1024
    /// How long each of the two waits may last when the WAL has that many pages.
    private static let timeLimit: [(pages: Int32, wait: Duration)] = [
        // 32 MiB: half of the WAL's maximum.
        (8_000, longestTimeLimit),
        // 2 MiB.
        (500, shortTimeLimit),
        (0, leastTimeLimit),
    ]
    static let longestTimeLimit = Duration.milliseconds(2_500)
    static let shortTimeLimit = Duration.milliseconds(50)
    static let leastTimeLimit = Duration.milliseconds(4)

    /// The WAL's size at which the next attempt is due.
    private(set) var next = threshold

    /// - Parameter pages: of the WAL after the last commit.
    /// - Parameter waited: how long that commit waited for the write lock. After a long wait, another process has
    ///   probably just waited for readers, and this one does not do the same at once.
    /// - Parameter isBatch: whether the commit was one of several that change many rows.
    /// - Returns: `nil` if no checkpoint is due.
    mutating func timeLimit(at pages: Int32, waited: Duration, isBatch: Bool = false) -> Duration? {
        guard isDue(at: pages), !isBatch || pages >= Self.thresholdOfBatches else { return nil }
        let timeLimit = Self.timeLimit.first { pages >= $0.pages }?.wait ?? Self.leastTimeLimit
        if timeLimit >= .seconds(1), waited >= timeLimit / 2 {
            postpone(from: pages)
            return nil
        }
        return timeLimit
    }

    /// As ``timeLimit(at:waited:isBatch:)`` decides it for a commit that is no batch.
    mutating func isDue(at pages: Int32) -> Bool {
        if pages < Self.threshold { next = Self.threshold }
        return pages >= next
    }

    mutating func note(_ outcome: CheckpointGate.Outcome, at pages: Int32) {
        switch outcome {
        case .restartable, .begunAnew: next = Self.threshold
        case .failed, .incomplete, .complete, .doubtful: postpone(from: pages)
        }
    }

    private mutating func postpone(from pages: Int32) { next = pages + pages / 4 }
}
