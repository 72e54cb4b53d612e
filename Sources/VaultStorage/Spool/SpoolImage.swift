package import VaultCrypto

/// The content of a spool file, derived only from its bytes.
package struct SpoolImage: Equatable, Sendable {
    package struct Piece: Equatable, Sendable {
        /// Whole pages, except at the end of a file that was cut short.
        package let range: Range<Int>
        /// The name under which it can be removed: the entry's own name or, without a readable head, a hash of its
        /// bytes. So a removal never removes anything else.
        package let name: Bytes16
        /// `nil` if the head cannot be read.
        package let head: SpoolFrame.Head?
        /// The position of the cell; `nil` unless the entry is complete.
        package let cell: Range<Int>?
    }

    package private(set) var pieces: [Piece] = []

    package init(_ bytes: [UInt8]) {
        var offset = 0
        /// Consecutive pages that are neither an entry nor empty.
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
                // The pages after a torn head are most likely its rest; a new magic number begins another entry.
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
