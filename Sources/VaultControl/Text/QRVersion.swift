/// The size of a QR code, and the protection of its codewords, at level M.
struct QRVersion {
    let number: Int
    /// Correction codewords in each block, and the number of blocks (table 9 of the standard).
    private let correction: Int
    private let blocks: Int

    static let all: [QRVersion] = [
        (10, 1), (16, 1), (26, 1), (18, 2), (24, 2), (16, 4), (18, 4), (22, 4), (22, 5), (26, 5), (30, 5), (22, 8),
        (22, 9), (24, 9), (24, 10), (28, 10), (28, 11), (26, 13), (26, 14), (26, 16),
    ].enumerated().map { QRVersion(number: $0.offset + 1, correction: $0.element.0, blocks: $0.element.1) }

    var size: Int { number * 4 + 17 }

    /// The centres of the alignment patterns, on both axes.
    var alignments: [Int] {
        guard number > 1 else { return [] }
        let count = number / 7 + 2
        let step = (number * 4 + count * 2 + 1) / (count * 2 - 2) * 2
        return [6] + (0..<(count - 1)).map { size - 7 - $0 * step }.reversed()
    }

    private var codewords: Int {
        var modules = (16 * number + 128) * number + 64
        if number > 1 {
            let count = number / 7 + 2
            modules -= (25 * count - 10) * count - 55
            if number >= 7 { modules -= 36 }
        }
        return modules / 8
    }

    private var dataCodewords: Int { codewords - correction * blocks }
    private var lengthBits: Int { number < 10 ? 8 : 16 }

    func holds(_ count: Int) -> Bool { 4 + lengthBits + count * 8 <= dataCodewords * 8 }

    /// Mode, length, bytes and padding.
    func data(_ bytes: [UInt8]) -> [UInt8] {
        var bits: [Bool] = []
        func append(_ value: Int, _ count: Int) {
            for shift in (0..<count).reversed() { bits.append(value >> shift & 1 == 1) }
        }
        append(0b0100, 4)
        append(bytes.count, lengthBits)
        for byte in bytes { append(Int(byte), 8) }
        append(0, min(4, dataCodewords * 8 - bits.count))
        append(0, (8 - bits.count % 8) % 8)
        var words = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
        }
        var fill: UInt8 = 0xEC
        while words.count < dataCodewords {
            words.append(fill)
            fill ^= 0xEC ^ 0x11
        }
        return words
    }

    /// The data in blocks, each with its correction, in drawing order.
    func protected(_ data: [UInt8]) -> [UInt8] {
        let generator = ReedSolomon(degree: correction)
        let shortBlocks = blocks - codewords % blocks
        let shortLength = codewords / blocks - correction
        var parts: [[UInt8]] = []
        var rest = data[...]
        for index in 0..<blocks {
            parts.append(Array(rest.prefix(shortLength + (index < shortBlocks ? 0 : 1))))
            rest = rest.dropFirst(parts[index].count)
        }
        let corrections = parts.map { generator.remainder(of: $0) }
        return (0...shortLength).flatMap { column in parts.compactMap { column < $0.count ? $0[column] : nil } }
            + (0..<correction).flatMap { column in corrections.map { $0[column] } }
    }
}

/// The correction of a QR code's blocks, over the field of 256 elements with the polynomial 0x11D.
private struct ReedSolomon {
    private let divisor: [UInt8]

    init(degree: Int) {
        var divisor = [UInt8](repeating: 0, count: degree - 1) + [1]
        var root: UInt8 = 1
        for _ in 0..<degree {
            for index in 0..<degree {
                divisor[index] = Self.product(divisor[index], root)
                if index + 1 < degree { divisor[index] ^= divisor[index + 1] }
            }
            root = Self.product(root, 2)
        }
        self.divisor = divisor
    }

    func remainder(of data: [UInt8]) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: divisor.count)
        for byte in data {
            let factor = byte ^ result[0]
            result = Array(result.dropFirst()) + [0]
            for index in result.indices { result[index] ^= Self.product(divisor[index], factor) }
        }
        return result
    }

    private static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var result = 0
        for shift in (0..<8).reversed() {
            result = result << 1 ^ (result >> 7) * 0x11D
            result ^= Int(right >> UInt8(shift) & 1) * Int(left)
        }
        return UInt8(truncatingIfNeeded: result)
    }
}
