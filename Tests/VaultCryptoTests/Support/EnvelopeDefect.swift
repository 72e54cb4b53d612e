import VaultCrypto

/// A cell with one thing wrong, and the error that must say so.
struct EnvelopeDefect {
    let name: String
    let cell: [UInt8]
    let code: VaultCryptoError.Code
}

/// Makes every defect of a good cell of kind `session` under the key id 0x01….
struct EnvelopeDefects {
    let good: [UInt8]
    /// A good cell of another kind under another key and nonce, of the same length.
    let other: [UInt8]

    static let fields: [(name: String, range: Range<Int>)] = [
        ("magic", 0..<4), ("format", 4..<5), ("suite", 5..<6), ("kind", 6..<7), ("flags", 7..<8), ("key id", 8..<24),
        ("nonce", 24..<48), ("commitment", 48..<80), ("ciphertext", 80..<208), ("tag", 208..<224),
    ]

    var all: [EnvelopeDefect] { shortened + lengthened + unknown + swapped + truncated + extended }

    /// The error that a changed byte at an offset must give, if the byte itself decides nothing more.
    static func code(at offset: Int) -> VaultCryptoError.Code {
        switch offset {
        case 0..<4: .malformedCell
        case 4: .unknownFormat
        case 5: .unknownSuite
        case 6: .unknownKind
        case 7: .unknownFlags
        case 8..<24: .unknownKey
        case 24..<80: .authenticationFailed(.commitment)
        default: .authenticationFailed(.tag)
        }
    }

    /// What a one-byte field becomes when its neighbour moves into its place.
    private static let shiftedCodes: [String: VaultCryptoError.Code] = [
        "format": .unknownSuite, "suite": .unknownSuite, "kind": .unknownKind, "flags": .unknownFlags,
    ]
    private static let pushedCodes: [String: VaultCryptoError.Code] = [
        "magic": .unknownFormat, "format": .unknownSuite, "suite": .unknownKind, "kind": .unknownFlags,
    ]

    private var shortened: [EnvelopeDefect] {
        Self.fields.map { name, range in
            var cell = good
            cell.remove(at: range.upperBound - 1)
            return EnvelopeDefect(
                name: "\(name) short", cell: cell, code: Self.shiftedCodes[name] ?? .malformedCell)
        }
    }

    private var lengthened: [EnvelopeDefect] {
        Self.fields.map { name, range in
            var cell = good
            cell.insert(0xEE, at: range.upperBound)
            return EnvelopeDefect(name: "\(name) long", cell: cell, code: Self.pushedCodes[name] ?? .malformedCell)
        }
    }

    /// Every other value of every header byte.
    private var unknown: [EnvelopeDefect] {
        (0..<24).flatMap { offset in
            (UInt8.min...UInt8.max).filter { $0 != good[offset] }.map { value in
                var cell = good
                cell[offset] = value
                let isKnownKind = offset == 6 && CellKind(rawValue: value) != nil
                return EnvelopeDefect(
                    name: "byte \(offset) = \(value)", cell: cell,
                    code: isKnownKind ? .wrongKind : Self.code(at: offset))
            }
        }
    }

    /// Each field, and each run of fields, taken from the other cell.
    private var swapped: [EnvelopeDefect] {
        Self.fields.indices.flatMap { first in
            Self.fields.indices[first...].compactMap { last in
                let range = Self.fields[first].range.lowerBound..<Self.fields[last].range.upperBound
                var cell = good
                cell.replaceSubrange(range, with: other[range])
                guard cell != good, let offset = zip(cell, good).enumerated().first(where: { $1.0 != $1.1 })?.offset
                else { return nil }
                let name = "\(Self.fields[first].name)…\(Self.fields[last].name) swapped"
                return EnvelopeDefect(name: name, cell: cell, code: offset == 6 ? .wrongKind : Self.code(at: offset))
            }
        }
    }

    private var truncated: [EnvelopeDefect] {
        good.indices.map {
            EnvelopeDefect(name: "cut to \($0)", cell: Array(good.prefix($0)), code: .malformedCell)
        }
    }

    private var extended: [EnvelopeDefect] {
        [1, 16, 127, 129].map { count in
            let cell = good + [UInt8](repeating: 0, count: count)
            return EnvelopeDefect(name: "\(count) bytes more", cell: cell, code: .malformedCell)
        } + [
            EnvelopeDefect(
                name: "a block more", cell: good + [UInt8](repeating: 0, count: 128),
                code: .authenticationFailed(.tag))
        ]
    }
}
