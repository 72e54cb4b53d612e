import TestSupport
import Testing
import VaultStorage

/// A vault with something in every table, whose bytes have suffered without any malice. `DamageTests` goes through every
/// part of a smaller one.
@Suite struct DamagedFileTests {
    private static let pageSize = 4096
    private static let flipCount = 40

    /// Of each part: every page once, then anywhere, then a quarter of the file's header.
    @Test(arguments: 0..<4) func flippedBytesNeverGiveAWrongAnswer(part: Int) async throws {
        let image = try await VaultImage.history().current
        let seed = 0x7661_756c_7421 + UInt64(part)
        var generator = SeededGenerator(seed: seed)
        let pages = image.database.count / Self.pageSize
        var offsets = (0..<pages).map { $0 * Self.pageSize + Int.random(in: 0..<Self.pageSize, using: &generator) }
        while offsets.count < Self.flipCount { offsets.append(.random(in: image.database.indices, using: &generator)) }
        offsets += stride(from: part, to: 100, by: 4)
        var tally = Tally()
        for offset in offsets {
            var bytes = image.database
            bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            try await tally.add(bytes, "byte \(offset)")
        }
        print("damage: \(offsets.count) flipped bytes in \(pages) pages (seed \(seed)): \(tally)")
        #expect(tally.seen > offsets.count / 5)
    }

    @Test func lostPagesNeverGiveAWrongAnswer() async throws {
        let image = try await VaultImage.history().current
        let pages = image.database.count / Self.pageSize
        var zeroes = Tally()
        for page in 0..<pages {
            var bytes = image.database
            let range = (page * Self.pageSize)..<((page + 1) * Self.pageSize)
            bytes.replaceSubrange(range, with: [UInt8](repeating: 0, count: Self.pageSize))
            try await zeroes.add(bytes, "zeroed page \(page)")
        }
        print("damage: \(pages) zeroed pages: \(zeroes)")
        // Indexes of tables that are empty, which nothing has to read.
        #expect(zeroes.seen >= pages - 4)
    }

    private struct Tally: CustomStringConvertible {
        private(set) var seen = 0
        private var unaffected = 0
        private var refused = 0

        mutating func add(_ bytes: [UInt8], _ name: String) async throws {
            let history = try await VaultImage.history()
            let vault = try history.current.layOut(bytes)
            // What a slot says of itself is known to be true only to its own key.
            let judge = TamperingJudge(history: history) { $0.hasPrefix("audit ") || $0 == "key slots" }
            switch await judge.judge(vault, affected: nil) {
            case .unseen: unaffected += 1
            case .refusedAtOpening:
                refused += 1
                seen += 1
            case .seenAtTouch, .seenByVerify: seen += 1
            case .wrong(let reason), .spread(let reason): Issue.record("\(name): \(reason)")
            }
        }

        var description: String { "\(unaffected) unaffected, \(seen) named (\(refused) at opening), 0 wrong" }
    }
}
