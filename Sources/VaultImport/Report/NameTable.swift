/// A set of entries, found by the hash of their name: for millions of rows, with little memory overhead.
///
/// The table is split into parts that each grow by a quarter when 7/8 full, so that the whole never exists twice.
struct NameTable<Slot: NamedSlot> {
    private var parts = [[Slot]](repeating: [], count: 1 << partBits)
    private var counts = [Int](repeating: 0, count: 1 << partBits)

    private static var partBits: Int { 6 }
    private static var fewest: Int { 16 }

    /// Inserts a slot, unless one with the same name exists: then the body decides about that one.
    ///
    /// - Returns: The result of the body; nil for a new name.
    mutating func meet<R>(_ new: Slot, _ known: (inout Slot) -> R) -> R? {
        let part = Self.part(of: new)
        if parts[part].isEmpty { parts[part] = [Slot](repeating: .empty, count: Self.fewest) }
        var index = Self.place(of: new, in: parts[part])
        guard parts[part][index].isEmpty else { return known(&parts[part][index]) }
        if counts[part] * 8 >= parts[part].count * 7 {
            grow(part)
            index = Self.place(of: new, in: parts[part])
        }
        parts[part][index] = new
        counts[part] += 1
        return nil
    }

    func contains(_ slot: Slot) -> Bool {
        let part = parts[Self.part(of: slot)]
        return !part.isEmpty && !part[Self.place(of: slot, in: part)].isEmpty
    }

    private mutating func grow(_ part: Int) {
        let old = parts[part]
        var larger = [Slot](repeating: .empty, count: old.count + old.count / 4)
        for slot in old where !slot.isEmpty { larger[Self.place(of: slot, in: larger)] = slot }
        parts[part] = larger
    }

    private static func part(of slot: Slot) -> Int { Int(truncatingIfNeeded: slot.hash >> UInt64(64 - partBits)) }

    /// Its position, or where it belongs: the lower half of the hash is the starting point.
    private static func place(of slot: Slot, in part: [Slot]) -> Int {
        var index = Int(truncatingIfNeeded: ((slot.hash & 0xffff_ffff) * UInt64(part.count)) >> 32)
        while !part[index].isEmpty, !part[index].hasName(of: slot) {
            index += 1
            if index == part.count { index = 0 }
        }
        return index
    }
}

/// A name of a ``NameTable``, and the data stored with it.
protocol NamedSlot {
    static var empty: Self { get }
    var isEmpty: Bool { get }
    /// The hash of the name only.
    var hash: UInt64 { get }
    func hasName(of other: Self) -> Bool
}
