import VaultCrypto

/// Names of rows: 16 bytes each, in a table that is at most 7/8 full.
struct NameSet {
    private var slots = [Bytes16](repeating: .zero, count: 1_024)
    private var count = 0

    /// Gives whether it is new.
    mutating func insert(_ name: Bytes16) -> Bool {
        var index = place(of: name)
        guard slots[index] != name else { return false }
        if count * 8 >= slots.count * 7 {
            let old = slots
            slots = [Bytes16](repeating: .zero, count: old.count * 2)
            for name in old where name != .zero { slots[place(of: name)] = name }
            index = place(of: name)
        }
        slots[index] = name
        count += 1
        return true
    }

    func contains(_ name: Bytes16) -> Bool { slots[place(of: name)] == name }

    /// Where it is, or where it belongs. Names are hashes: none is zero.
    private func place(of name: Bytes16) -> Int {
        var index = Int(truncatingIfNeeded: name.firstWord) & (slots.count - 1)
        while slots[index] != .zero, slots[index] != name { index = (index + 1) & (slots.count - 1) }
        return index
    }
}
