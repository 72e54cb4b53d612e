import VaultCrypto
import VaultStorage

extension FuzzTarget {
    /// A spool file. Whatever its content, complete entries are found, and incomplete ones never count as entries.
    static let spool = FuzzTarget("spool") { bytes throws(FuzzFinding) in
        let image = SpoolImage(bytes)
        try SpoolCheck.isInOrder(image, bytes)
        try SpoolCheck.hidesNothing(bytes)
        try SpoolCheck.noticesChanges(bytes)
    }
}

private enum SpoolCheck {
    private static let page = SpoolFrame.pageByteCount

    /// Pieces are consecutive pages of the file, and a complete piece is exactly what the writer would have written.
    static func isInOrder(_ image: SpoolImage, _ bytes: [UInt8]) throws(FuzzFinding) {
        var end = 0
        for piece in image.pieces {
            try require(piece.range.lowerBound >= end && piece.range.lowerBound % page == 0, "pieces out of order")
            try require(piece.range.upperBound <= bytes.count && !piece.range.isEmpty, "a piece outside the file")
            end = piece.range.upperBound
            guard let cell = piece.cell else { continue }
            guard let head = piece.head else { throw FuzzFinding("a whole entry without a head") }
            let written = SpoolFrame.bytes(head, cell: Array(bytes[cell]))
            try require(written.count == piece.range.count, "an entry that takes another room than it was written to")
            let isSame = bytes[piece.range.lowerBound..<cell.upperBound].elementsEqual(
                written.prefix(cell.upperBound - piece.range.lowerBound))
            try require(isSame, "an entry that the writer would not write")
        }
        // Any non-empty page is part of a piece, or of a removed entry.
        var offset = 0
        while offset < bytes.count {
            let isFree = bytes[offset..<min(offset + page, bytes.count)].allSatisfy { $0 == 0 }
            let isTold = image.pieces.contains { $0.range.contains(offset) }
            try require(isFree || isTold || isRemoved(bytes, offset), "page \(offset / page) is passed over")
            offset += page
        }
    }

    /// Whether a removed entry covers the page, checked independently: magic, format, state.
    private static func isRemoved(_ bytes: [UInt8], _ offset: Int) -> Bool {
        stride(from: 0, through: offset, by: page).contains { start in
            bytes.count - start > 8 && bytes[start..<start + 4].elementsEqual("TVSP".utf8) && bytes[start + 4] == 1
                && bytes[start + 5] == 2
        }
    }

    /// An entry in front of arbitrary bytes is found, unchanged.
    static func hidesNothing(_ bytes: [UInt8]) throws(FuzzFinding) {
        let (head, cell) = entry(of: bytes)
        let frame = SpoolFrame.bytes(head, cell: cell)
        let first = SpoolImage(frame + bytes).pieces.first
        try require(first?.head == head && first?.range == 0..<frame.count, "an entry is not found before others")
        try require(first?.cell.map { Array((frame)[$0]) } == cell, "an entry has another cell")
    }

    /// One change of a byte that matters in a frame; the fuzzer chooses its offset and value.
    static func noticesChanges(_ bytes: [UInt8]) throws(FuzzFinding) {
        guard bytes.count >= 4 else { return }
        let (head, cell) = entry(of: bytes)
        var frame = SpoolFrame.bytes(head, cell: cell)
        let index = (Int(bytes[0]) | Int(bytes[1]) << 8) % (120 + cell.count)
        frame[index] ^= max(bytes[2], 1)
        let pieces = SpoolImage(frame).pieces
        try require(pieces.allSatisfy { $0.cell == nil }, "an entry is whole with byte \(index) changed")
        let cut = SpoolImage(Array(frame.dropLast(Int(bytes[3]) + 1)))
        try require(cut.pieces.allSatisfy { $0.cell == nil }, "an entry is whole after it was cut short")
    }

    /// An entry made from the input.
    private static func entry(of bytes: [UInt8]) -> (SpoolFrame.Head, [UInt8]) {
        var name = Array(bytes.prefix(16))
        name += [UInt8](repeating: 1, count: 16 - name.count)
        let id = Bytes16(name) ?? .zero
        let number = Int64(bytes.count) &* 7 - 3
        let head = SpoolFrame.Head(
            vault: id, entry: id, login: LoginHandle(id), position: ChainPosition(chain: number, generation: -number),
            fence: number)
        return (head, Array(bytes.dropFirst(16).prefix(6000)))
    }
}
