import Synchronization
import TestSupport
import Testing

@testable import VaultImport

/// What an import remembers of millions of rows.
@Suite struct NameTableTests {
    private struct Slot: NamedSlot {
        static let looks = Atomic(0)
        static let empty = Slot(hash: 0, value: 0)

        let hash: UInt64
        var value: Int

        var isEmpty: Bool { value == 0 }

        func hasName(of other: Slot) -> Bool {
            Self.looks.add(1, ordering: .relaxed)
            return hash == other.hash
        }
    }

    @Test func eachNameIsMetOnceAndFoundByFewLooks() {
        var generator = SeededGenerator(seed: 1)
        let hashes = (0..<100_000).map { _ in UInt64.random(in: 1 ... .max, using: &generator) }
        var table = NameTable<Slot>()
        for (number, hash) in hashes.enumerated() {
            #expect(table.meet(Slot(hash: hash, value: number + 1)) { _ in } == nil)
        }
        // Those of the growing, too. A table that began at its first place would need hundreds each.
        let looks = Slot.looks.load(ordering: .relaxed)
        #expect(looks < 100 * hashes.count, "\(looks) looks")
        print("name table: \(hashes.count) names, \(looks) looks at others")
        for (number, hash) in hashes.enumerated() {
            let known = table.meet(Slot(hash: hash, value: -1)) { slot in
                defer { slot.value += 1 }
                return slot.value
            }
            #expect(known == number + 1)
            #expect(table.contains(Slot(hash: hash, value: 1)))
        }
        #expect(!table.contains(Slot(hash: 0, value: 1)))
    }
}
