import VaultCrypto

extension FuzzTarget {
    /// The facts that cells are bound to: two different lists never produce the same bytes.
    static let associatedData = FuzzTarget("associated-data") { bytes throws(FuzzFinding) in
        var rest = bytes[...]
        let first = Fact.list(&rest)
        let second = Fact.list(&rest)
        guard let one = Fact.encode(first), let other = Fact.encode(second) else { return }
        try require((one == other) == (first == second), "two lists of facts have one encoding")
        // The similar lists that an encoder without lengths or types would confuse.
        for neighbour in Fact.neighbours(of: first) where neighbour != first {
            guard let encoded = Fact.encode(neighbour) else { continue }
            try require(encoded != one, "two lists of facts have one encoding")
        }
    }
}

private enum Fact: Hashable {
    case absent
    case integer(Int64)
    case bytes([UInt8])
    case text(String)

    /// Up to eight facts: a byte for the type, one for the length, then the content.
    static func list(_ source: inout ArraySlice<UInt8>) -> [Fact] {
        var facts: [Fact] = []
        let count = Int(source.popFirst() ?? 0) % 9
        while facts.count < count, let type = source.popFirst() {
            switch type % 4 {
            case 0: facts.append(.absent)
            case 1:
                let content = source.prefix(8)
                source = source.dropFirst(content.count)
                facts.append(.integer(content.reduce(0) { $0 << 8 | Int64($1) }))
            default:
                let content = source.dropFirst().prefix(Int(source.first ?? 0))
                source = source.dropFirst(content.count + 1)
                facts.append(type % 4 == 2 ? .bytes(Array(content)) : .text(String(decoding: content, as: UTF8.self)))
            }
        }
        return facts
    }

    /// Nil if they do not fit: then no cell is made.
    static func encode(_ facts: [Fact]) -> [UInt8]? {
        guard let vault = Bytes16([UInt8](repeating: 0, count: 16)) else { return nil }
        var data = AssociatedData(vault: vault, table: "fuzz")
        for fact in facts {
            switch fact {
            case .absent: data.appendNil()
            case .integer(let value): data.append(value)
            case .bytes(let bytes): data.append(bytes: bytes)
            case .text(let text): data.append(text)
            }
        }
        if data.isTooLong { return nil }
        return unsafe data.withUnsafeBytes { unsafe Array($0) }
    }

    static func neighbours(of facts: [Fact]) -> [[Fact]] {
        var all: [[Fact]] = [facts + [.absent], Array(facts.dropLast()), facts.reversed()]
        for (index, fact) in facts.enumerated() {
            for other in fact.others { all.append(Array(facts[..<index]) + [other] + Array(facts[(index + 1)...])) }
            guard index + 1 < facts.count, case .bytes(let one) = fact, case .bytes(let two) = facts[index + 1] else {
                continue
            }
            all.append(Array(facts[..<index]) + [.bytes(one + two), .bytes([])] + Array(facts[(index + 2)...]))
        }
        return all
    }

    private var others: [Fact] {
        switch self {
        case .absent: [.bytes([]), .text(""), .integer(0)]
        case .integer(let value): [.integer(value &+ 1), .integer(value.byteSwapped), .absent]
        case .bytes(let bytes): [.text(String(decoding: bytes, as: UTF8.self)), .bytes(bytes + [0]), .absent]
        case .text(let text): [.bytes(Array(text.utf8)), .text(text + "\0"), .absent]
        }
    }
}
