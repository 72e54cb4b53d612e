/// The modules of a QR code under one mask.
struct QRMatrix {
    private(set) var modules: [Bool]
    private var isFixed: [Bool]
    private let size: Int

    init(_ version: QRVersion, _ codewords: [UInt8], mask: Int) {
        size = version.size
        modules = [Bool](repeating: false, count: size * size)
        isFixed = modules
        drawPatterns(version)
        drawFormat(mask)
        drawVersion(version.number)
        draw(codewords, mask)
    }

    private mutating func fix(_ x: Int, _ y: Int, _ isDark: Bool) {
        guard (0..<size).contains(x), (0..<size).contains(y) else { return }
        modules[y * size + x] = isDark
        isFixed[y * size + x] = true
    }

    private mutating func drawPatterns(_ version: QRVersion) {
        for index in 0..<size {
            fix(6, index, index % 2 == 0)
            fix(index, 6, index % 2 == 0)
        }
        for (x, y) in [(3, 3), (size - 4, 3), (3, size - 4)] {
            drawSquares(x, y, 4) { $0 != 2 && $0 != 4 }
        }
        let places = version.alignments
        for x in places {
            for y in places {
                let isCorner = [x, y] == [6, 6] || [x, y].sorted() == [6, size - 7]
                if !isCorner { drawSquares(x, y, 2) { $0 != 1 } }
            }
        }
    }

    /// Squares around a centre, dark or light by their distance from it.
    private mutating func drawSquares(_ x: Int, _ y: Int, _ radius: Int, _ isDark: (Int) -> Bool) {
        for dy in -radius...radius {
            for dx in -radius...radius { fix(x + dx, y + dy, isDark(max(abs(dx), abs(dy)))) }
        }
    }

    /// The mask and level M, twice, with a BCH code.
    private mutating func drawFormat(_ mask: Int) {
        var rest = mask
        for _ in 0..<10 { rest = rest << 1 ^ (rest >> 9) * 0x537 }
        let bits = (mask << 10 | rest) ^ 0x5412
        func isDark(_ index: Int) -> Bool { bits >> index & 1 == 1 }
        for index in 0..<6 { fix(8, index, isDark(index)) }
        fix(8, 7, isDark(6))
        fix(8, 8, isDark(7))
        fix(7, 8, isDark(8))
        for index in 9..<15 { fix(14 - index, 8, isDark(index)) }
        for index in 0..<8 { fix(size - 1 - index, 8, isDark(index)) }
        for index in 8..<15 { fix(8, size - 15 + index, isDark(index)) }
        fix(8, size - 8, true)
    }

    private mutating func drawVersion(_ number: Int) {
        guard number >= 7 else { return }
        var rest = number
        for _ in 0..<12 { rest = rest << 1 ^ (rest >> 11) * 0x1F25 }
        let bits = number << 12 | rest
        for index in 0..<18 {
            let (far, near) = (size - 11 + index % 3, index / 3)
            fix(far, near, bits >> index & 1 == 1)
            fix(near, far, bits >> index & 1 == 1)
        }
    }

    /// In pairs of columns from the right, alternately upwards and downwards, around the fixed patterns.
    private mutating func draw(_ codewords: [UInt8], _ mask: Int) {
        var index = 0
        for pair in stride(from: size - 1, through: 1, by: -2) {
            let right = pair <= 6 ? pair - 1 : pair
            for step in 0..<size {
                let y = (right + 1) & 2 == 0 ? size - 1 - step : step
                for x in [right, right - 1] where !isFixed[y * size + x] {
                    let isDark = index < codewords.count * 8 && codewords[index / 8] >> UInt8(7 - index % 8) & 1 == 1
                    modules[y * size + x] = isDark != Self.inverts(x, y, mask)
                    index += 1
                }
            }
        }
    }

    private static func inverts(_ x: Int, _ y: Int, _ mask: Int) -> Bool {
        switch mask {
        case 0: (x + y) % 2 == 0
        case 1: y % 2 == 0
        case 2: x % 3 == 0
        case 3: (x + y) % 3 == 0
        case 4: (x / 3 + y / 2) % 2 == 0
        case 5: x * y % 2 + x * y % 3 == 0
        case 6: (x * y % 2 + x * y % 3) % 2 == 0
        default: ((x + y) % 2 + x * y % 3) % 2 == 0
        }
    }

    /// How hard it is to read: runs, squares, lookalikes of finder patterns, and imbalance.
    var penalty: Int {
        let rows = (0..<size).map { y in (0..<size).map { modules[y * size + $0] } }
        let columns = (0..<size).map { x in rows.map { $0[x] } }
        var sum = (rows + columns).reduce(0) { $0 + Self.penalty(of: $1) }
        for y in 1..<size {
            for x in 1..<size {
                let corner = rows[y][x]
                if rows[y][x - 1] == corner, rows[y - 1][x] == corner, rows[y - 1][x - 1] == corner { sum += 3 }
            }
        }
        let dark = modules.count { $0 }
        return sum + abs(dark * 20 - modules.count * 10) / modules.count * 10
    }

    private static let finder = [true, false, true, true, true, false, true]

    private static func penalty(of line: [Bool]) -> Int {
        var sum = 0
        var run = 0
        for (index, module) in line.enumerated() {
            run = index > 0 && line[index - 1] == module ? run + 1 : 1
            if run == 5 { sum += 3 } else if run > 5 { sum += 1 }
        }
        guard line.count >= finder.count else { return sum }
        for start in 0...(line.count - finder.count) where Array(line[start..<start + finder.count]) == finder {
            let before = line[max(0, start - 4)..<start]
            let after = line[(start + finder.count)...].prefix(4)
            if !before.contains(true) || !after.contains(true) { sum += 40 }
        }
        return sum
    }
}
