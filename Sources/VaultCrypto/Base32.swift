/// RFC 4648 base32, lower case and without padding: the encoding of key files and handles.
package enum Base32 {
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    package static func encodedCount(_ count: Int) -> Int { (count * 8 + 4) / 5 }

    /// - Parameter target: `encodedCount(source.count)` bytes.
    package static func encode(_ source: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer) {
        var bits: UInt32 = 0
        var bitCount: UInt32 = 0
        var offset = 0
        for index in source.indices {
            let byte = unsafe source[index]
            bits = (bits << 8 | UInt32(byte)) & 0xFFFF
            bitCount += 8
            while bitCount >= 5 {
                bitCount -= 5
                unsafe target[offset] = alphabet[Int(bits >> bitCount & 31)]
                offset += 1
            }
        }
        if bitCount > 0 { unsafe target[offset] = alphabet[Int(bits << (5 - bitCount) & 31)] }
    }

    package static func encode(_ value: Bytes16) -> String {
        unsafe value.withUnsafeBytes { source in
            unsafe String(unsafeUninitializedCapacity: encodedCount(source.count)) { target in
                unsafe encode(source, to: UnsafeMutableRawBufferPointer(target))
                return target.count
            }
        }
    }

    /// Fills the target exactly. `false` if the text has another length, a character of another alphabet, or bits
    /// after the last byte that are not zero, so that each value has one text only.
    package static func decode(_ source: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer) -> Bool {
        guard source.count == encodedCount(target.count) else { return false }
        var bits: UInt32 = 0
        var bitCount: UInt32 = 0
        var offset = 0
        for index in source.indices {
            let character = unsafe source[index]
            let value: UInt8
            switch character {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = character - UInt8(ascii: "a")
            case UInt8(ascii: "2")...UInt8(ascii: "7"): value = character - UInt8(ascii: "2") + 26
            default: return false
            }
            bits = (bits << 5 | UInt32(value)) & 0xFFFF
            bitCount += 5
            if bitCount >= 8 {
                bitCount -= 8
                unsafe target[offset] = UInt8(truncatingIfNeeded: bits >> bitCount)
                offset += 1
            }
        }
        return bits & ((1 << bitCount) - 1) == 0
    }

    package static func decode(_ text: String) -> Bytes16? {
        var text = text
        var value = Bytes16.zero
        let isValid = text.withUTF8 { source in
            unsafe withUnsafeMutableBytes(of: &value) { unsafe decode(UnsafeRawBufferPointer(source), to: $0) }
        }
        return isValid ? value : nil
    }
}
