package import VaultCrypto

/// What a spool file holds, told from its bytes alone.
package struct SpoolImage: Equatable, Sendable {
    package struct Piece: Equatable, Sendable {
        /// Whole pages, except at the end of a file that was cut short.
        package let range: Range<Int>
        /// By which it can be removed: the entry's own name; of what has no head that can be read, a hash of its bytes, so
        /// that removing it never removes something else.
        package let name: Bytes16
        /// `nil` if not even that can be read.
        package let head: SpoolFrame.Head?
        /// Where the cell lies; `nil` unless the entry is whole.
        package let cell: Range<Int>?
    }

    package private(set) var pieces: [Piece] = []

    package init(_ bytes: [UInt8]) {
        var offset = 0
        /// Pages that are neither an entry nor empty, one after the other.
        var torn: Range<Int>?
        while offset < bytes.count {
            let end = min(offset + SpoolFrame.pageByteCount, bytes.count)
            if let found = SpoolFrame.read(bytes, at: offset) {
                close(&torn, bytes)
                let range = offset..<offset + found.pageCount * SpoolFrame.pageByteCount
                if found.state == .held {
                    pieces.append(
                        Piece(
                            range: range, name: found.head.entry, head: found.head,
                            cell: found.isWhole ? found.cell : nil))
                }
                offset = range.upperBound
                continue
            }
            if Sodium.areZero(bytes[offset..<end]) {
                close(&torn, bytes)
            } else {
                // What follows a torn head is most likely its rest; a magic of its own begins something new.
                if SpoolFrame.isMagic(bytes, at: offset) { close(&torn, bytes) }
                torn = (torn?.lowerBound ?? offset)..<end
            }
            offset = end
        }
        close(&torn, bytes)
    }

    private mutating func close(_ torn: inout Range<Int>?, _ bytes: [UInt8]) {
        guard let range = torn else { return }
        torn = nil
        let name = unsafe bytes[range].withUnsafeBytes { unsafe Checksum.of($0) }
        pieces.append(Piece(range: range, name: name, head: nil, cell: nil))
    }
}
