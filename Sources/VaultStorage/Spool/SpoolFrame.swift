package import VaultCrypto

/// One entry of a spool file, starting at a page: head, checksum, cell.
///
///     magic (4) │ format (1) │ state (1) │ 0 (2) │ cell length (8) │ vault (16) │ entry (16) │ login (16)
///     │ chain (8) │ generation (8) │ fence (8) │ checksum of the cell (16) │ checksum of what is before (16) │ cell
///
/// The checksums distinguish complete entries from entries that were only partly written. The cell distinguishes
/// complete entries of this vault from those of others. `docs/vault-format.md` specifies both.
package enum SpoolFrame {
    package struct Head: Equatable, Sendable {
        package var vault: Bytes16
        package var entry: Bytes16
        package var login: LoginHandle
        package var position: ChainPosition
        package var fence: Int64

        package init(vault: Bytes16, entry: Bytes16, login: LoginHandle, position: ChainPosition, fence: Int64) {
            self.vault = vault
            self.entry = entry
            self.login = login
            self.position = position
            self.fence = fence
        }
    }

    enum State: UInt8 {
        case held = 1
        /// The entry was removed. Its first sector, which holds the whole head, is overwritten first, in one piece.
        case removed = 2
    }

    /// Entries start at multiples of this size, so that writing one never rewrites a part of another.
    package static let pageByteCount = 4096
    private static let cellChecksumOffset = 88
    private static let headChecksumOffset = 104
    static let cellOffset = 120
    /// The size that a disk writes completely or not at all.
    static let sectorByteCount = 512
    private static let magic = Array("TVSP".utf8)
    private static let format: UInt8 = 1

    static func pageCount(forCell byteCount: Int) -> Int { (cellOffset + byteCount - 1) / pageByteCount + 1 }

    /// The frame, with its last page padded.
    package static func bytes(_ head: Head, cell: [UInt8]) -> [UInt8] {
        var bytes = start(head, .held, cellByteCount: cell.count, cellChecksum: checksum(cell[...]))
        bytes += cell
        bytes += [UInt8](repeating: 0, count: pageCount(forCell: cell.count) * pageByteCount - bytes.count)
        return bytes
    }

    /// The first sector of a removed frame.
    static func tombstone(_ head: Head, cellByteCount: Int) -> [UInt8] {
        var bytes = start(head, .removed, cellByteCount: cellByteCount, cellChecksum: .zero)
        bytes += [UInt8](repeating: 0, count: sectorByteCount - bytes.count)
        return bytes
    }

    private static func start(_ head: Head, _ state: State, cellByteCount: Int, cellChecksum: Bytes16) -> [UInt8] {
        var bytes = magic + [format, state.rawValue, 0, 0]
        append(UInt64(cellByteCount), to: &bytes)
        for part in [head.vault, head.entry, head.login.bytes] { bytes += part.array }
        for number in [head.position.chain, head.position.generation, head.fence] {
            append(UInt64(bitPattern: number), to: &bytes)
        }
        bytes += cellChecksum.array
        bytes += checksum(bytes[...]).array
        return bytes
    }

    private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    private static func checksum(_ bytes: ArraySlice<UInt8>) -> Bytes16 {
        unsafe bytes.withUnsafeBytes { unsafe Checksum.of($0) }
    }

    // MARK: Reading

    struct Found: Equatable {
        let head: Head
        let state: State
        /// The position of the cell, complete or not.
        let cell: Range<Int>
        let isWhole: Bool
        let pageCount: Int
    }

    static func isMagic(_ bytes: [UInt8], at offset: Int) -> Bool {
        bytes.count - offset >= magic.count && bytes[offset...].starts(with: magic)
    }

    /// Returns `nil` unless a complete head starts there and its frame ends within `bytes`.
    static func read(_ bytes: [UInt8], at offset: Int) -> Found? {
        guard bytes.count - offset >= pageByteCount, isMagic(bytes, at: offset), bytes[offset + 4] == format,
            let state = State(rawValue: bytes[offset + 5]), bytes[offset + 6] == 0, bytes[offset + 7] == 0,
            checksum(bytes[offset..<offset + headChecksumOffset]) == bytes16(bytes, offset + headChecksumOffset)
        else { return nil }
        let length = number(bytes, offset + 8)
        let start = offset + cellOffset
        guard length <= UInt64(bytes.count - start), let vault = bytes16(bytes, offset + 16),
            let entry = bytes16(bytes, offset + 32), let login = bytes16(bytes, offset + 48)
        else { return nil }
        let pageCount = pageCount(forCell: Int(length))
        guard offset + pageCount * pageByteCount <= bytes.count else { return nil }
        let cell = start..<start + Int(length)
        let head = Head(
            vault: vault, entry: entry, login: LoginHandle(login),
            position: ChainPosition(
                chain: integer(bytes, offset + 64), generation: integer(bytes, offset + 72)),
            fence: integer(bytes, offset + 80))
        return Found(
            head: head, state: state, cell: cell,
            isWhole: checksum(bytes[cell]) == bytes16(bytes, offset + cellChecksumOffset), pageCount: pageCount)
    }

    private static func number(_ bytes: [UInt8], _ offset: Int) -> UInt64 {
        bytes[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func integer(_ bytes: [UInt8], _ offset: Int) -> Int64 {
        Int64(bitPattern: number(bytes, offset))
    }

    private static func bytes16(_ bytes: [UInt8], _ offset: Int) -> Bytes16? {
        Bytes16(Array(bytes[offset..<offset + Bytes16.byteCount]))
    }
}
