/// 26 characters that no other file has in its name.
package enum RandomName {
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)
    private static let length = 26

    /// 16 random bytes in base32, without padding.
    package static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        let (high, low) = (generator.next() as UInt64, generator.next() as UInt64)
        // The last character has three bits of the number, and two that are zero.
        var value = UInt128(high) << 64 | UInt128(low)
        var digits = [alphabet[Int(value & 7) << 2]]
        value >>= 3
        while digits.count < length {
            digits.append(alphabet[Int(value & 31)])
            value >>= 5
        }
        return String(decoding: digits.reversed(), as: UTF8.self)
    }

    /// Whether it is one that may have been made here.
    static func isOne(_ text: Substring) -> Bool {
        guard text.utf8.count == length, text.utf8.allSatisfy(alphabet.contains), let last = text.utf8.last else {
            return false
        }
        return alphabet.firstIndex(of: last).map { $0 & 3 == 0 } ?? false
    }
}
