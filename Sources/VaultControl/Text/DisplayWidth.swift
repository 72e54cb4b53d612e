/// The number of terminal columns that a text takes.
enum DisplayWidth {
    static func of(_ text: some StringProtocol) -> Int {
        text.reduce(0) { $0 + of($1) }
    }

    static func of(_ character: Character) -> Int {
        if let byte = character.utf8.first, byte < 0x80, character.utf8.count == 1 { return 1 }
        if character.unicodeScalars.contains(where: isWide) { return 2 }
        return character.unicodeScalars.allSatisfy(isMark) ? 0 : 1
    }

    /// The beginning of a text that fits, with an ellipsis if something was cut.
    static func cut(_ text: String, to width: Int) -> String {
        guard of(text) > width else { return text }
        var (front, taken) = ("", 0)
        for character in text {
            let next = of(character)
            guard taken + next < width else { break }
            front.append(character)
            taken += next
        }
        return front + "…"
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        default: false
        }
    }

    /// Wide and full-width characters of Unicode's EastAsianWidth.txt, by block.
    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) }
    }

    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
        0x1F1E6...0x1F1FF, 0x20000...0x3FFFD,
    ]
}
