/// A QR code (ISO/IEC 18004): bytes, error correction level M, versions 1 to 20. See docs/adr/0067.
struct QRCode {
    /// Modules per side, without the quiet zone.
    let size: Int
    private let dark: [Bool]

    /// Nil: the text has more than 666 bytes.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let version = QRVersion.all.first(where: { $0.holds(bytes.count) }) else { return nil }
        let codewords = version.protected(version.data(bytes))
        var best = QRMatrix(version, codewords, mask: 0)
        for mask in 1..<8 {
            let matrix = QRMatrix(version, codewords, mask: mask)
            if matrix.penalty < best.penalty { best = matrix }
        }
        size = version.size
        dark = best.modules
    }

    /// Whether a module is dark; all modules outside the code are light.
    subscript(x: Int, y: Int) -> Bool {
        (0..<size).contains(x) && (0..<size).contains(y) && dark[y * size + x]
    }

    /// The width of the surrounding light modules.
    static let quietZone = 4

    /// Two rows of modules in one line of text, with the colours that a reader needs.
    ///
    /// - Parameter isRich: whether the terminal supports colours. Otherwise its background is assumed to be dark.
    func lines(isRich: Bool) -> [String] {
        let range = -Self.quietZone..<(size + Self.quietZone)
        return stride(from: range.lowerBound, to: range.upperBound, by: 2).map { y in
            let text = String(
                range.map { x -> Character in
                    switch (self[x, y] == isRich, self[x, y + 1] == isRich) {
                    case (true, true): "█"
                    case (true, false): "▀"
                    case (false, true): "▄"
                    case (false, false): " "
                    }
                })
            return isRich ? "\u{1B}[38;5;16;48;5;231m\(text)\u{1B}[0m" : text
        }
    }
}
