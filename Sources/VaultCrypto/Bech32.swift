/// Bech32 (BIP 173) without its limit of 90 characters: the encoding of age recipients and identities.
///
/// A text is in one case, that of its prefix.
package enum Bech32 {
    private static let alphabet = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)
    private static let generators: [UInt32] = [0x3B6A_57B2, 0x2650_8E6D, 0x1EA1_19FA, 0x3D42_33DD, 0x2A14_62B3]
    private static let checksumCount = 6
    private static let separator = UInt8(ascii: "1")
    /// The difference between a lower-case letter and its upper-case form.
    private static let caseBit: UInt8 = 0x20

    package static func encode(_ source: UnsafeRawBufferPointer, prefix: String) -> [UInt8] {
        let name = Array(prefix.utf8)
        var state = checksum(of: name)
        var text = name + [separator]
        var (bits, bitCount): (UInt32, UInt32) = (0, 0)
        func append(_ value: UInt8) {
            step(&state, value)
            text.append(character(value, like: name))
        }
        for index in source.indices {
            bits = unsafe (bits << 8 | UInt32(source[index])) & 0xFFF
            bitCount += 8
            while bitCount >= 5 {
                bitCount -= 5
                append(UInt8(bits >> bitCount & 31))
            }
        }
        if bitCount > 0 { append(UInt8(bits << (5 - bitCount) & 31)) }
        for _ in 0..<checksumCount { step(&state, 0) }
        state ^= 1
        for place in 0..<UInt32(checksumCount) {
            text.append(character(UInt8(state >> (5 * (5 - place)) & 31), like: name))
        }
        return text
    }

    /// Fills the target exactly. `false` if the text has another prefix, case or length, a character of another
    /// alphabet, a checksum that does not fit, or bits after the last byte that are not zero.
    package static func decode(
        _ text: UnsafeRawBufferPointer, prefix: String, to target: UnsafeMutableRawBufferPointer
    ) -> Bool {
        let name = Array(prefix.utf8)
        let start = name.count + 1
        let end = start + (target.count * 8 + 4) / 5
        guard text.count == end + checksumCount, unsafe text.prefix(name.count).elementsEqual(name),
            unsafe text[name.count] == separator
        else { return false }
        var state = checksum(of: name)
        var (bits, bitCount): (UInt32, UInt32) = (0, 0)
        var offset = 0
        for index in start..<text.count {
            guard let value = unsafe value(of: text[index], like: name) else { return false }
            step(&state, value)
            guard index < end else { continue }
            bits = (bits << 5 | UInt32(value)) & 0xFFF
            bitCount += 5
            if bitCount >= 8 {
                bitCount -= 8
                unsafe target[offset] = UInt8(truncatingIfNeeded: bits >> bitCount)
                offset += 1
            }
        }
        return state == 1 && bits & ((1 << bitCount) - 1) == 0
    }

    private static func isUpper(_ name: [UInt8]) -> Bool {
        name.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
    }

    private static func character(_ value: UInt8, like name: [UInt8]) -> UInt8 {
        let character = alphabet[Int(value)]
        return isUpper(name) && character >= UInt8(ascii: "a") ? character & ~caseBit : character
    }

    private static func value(of character: UInt8, like name: [UInt8]) -> UInt8? {
        let letters =
            isUpper(name)
            ? UInt8(ascii: "A")...UInt8(ascii: "Z") : UInt8(ascii: "a")...UInt8(ascii: "z")
        let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character)
        guard isDigit || letters.contains(character) else { return nil }
        return alphabet.firstIndex(of: character | caseBit).map { UInt8($0) }
    }

    /// The state of the checksum once it has taken in the prefix.
    private static func checksum(of name: [UInt8]) -> UInt32 {
        var state: UInt32 = 1
        let lower = name.map { $0 | caseBit }
        for byte in lower { step(&state, byte >> 5) }
        step(&state, 0)
        for byte in lower { step(&state, byte & 31) }
        return state
    }

    private static func step(_ state: inout UInt32, _ value: UInt8) {
        let top = state >> 25
        state = (state & 0x1FF_FFFF) << 5 ^ UInt32(value)
        for (bit, generator) in generators.enumerated() where top >> UInt32(bit) & 1 == 1 { state ^= generator }
    }
}
