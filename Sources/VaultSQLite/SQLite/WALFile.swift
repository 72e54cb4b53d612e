import CSQLite
import Platform
import VaultStorage

/// The WAL as a file (https://sqlite.org/fileformat2.html#walformat). It may be opened while SQLite has it open: it
/// carries no locks.
enum WALFile {
    static let headerSize = 32
    private static let frameHeaderSize = 24

    /// 0 if there is no WAL.
    static func size(besideVaultAt path: String) -> Int {
        Int((try? FileStatus(at: path + "-wal"))?.size ?? 0)
    }

    /// The WAL's commits, as far as they concern the database's header.
    struct Commits {
        /// The database's page counts after each commit.
        var databaseSizes: Set<Int64> = []
        /// SQLite's change counters in the first page, if the commits include that page.
        var changeCounters: ClosedRange<Int64>?
    }

    static func commits(besideVaultAt path: String) -> Commits {
        var commits = Commits()
        var pending: ClosedRange<Int64>?
        eachFrame(besideVaultAt: path) { frame in
            if frame.page == 1 { pending = joined(pending, frame.changeCounter...frame.changeCounter) }
            // Pages without a following commit belong to no commit.
            guard frame.databaseSize > 0 else { return true }
            commits.databaseSizes.insert(frame.databaseSize)
            if let range = pending { commits.changeCounters = joined(commits.changeCounters, range) }
            pending = nil
            return true
        }
        return commits
    }

    /// Whether the WAL holds the database file's first page, with everything that SQLite records there.
    static func holdsFirstPage(besideVaultAt path: String) -> Bool {
        var isThere = false
        eachFrame(besideVaultAt: path) { frame in
            isThere = frame.page == 1
            return !isThere
        }
        return isThere
    }

    private static func joined(_ first: ClosedRange<Int64>?, _ second: ClosedRange<Int64>) -> ClosedRange<Int64> {
        guard let first else { return second }
        return min(first.lowerBound, second.lowerBound)...max(first.upperBound, second.upperBound)
    }

    // MARK: Frames

    private struct Frame {
        let page: Int64
        /// The database's page count in the last frame of a commit; 0 in other frames.
        let databaseSize: Int64
        /// Meaningful in the first page alone.
        let changeCounter: Int64
    }

    /// Visits the WAL's frames up to the first one that is not of this WAL or whose checksum is wrong.
    ///
    /// - Parameter body: returns whether to continue.
    private static func eachFrame(besideVaultAt path: String, _ body: (Frame) -> Bool) {
        guard let file = try? Descriptor(path + "-wal", for: .reading, .notThroughLink) else { return }
        guard let header = read(file, at: 0, count: headerSize) else { return }
        let pageSize = Int(number(header, at: 8))
        guard (512...65_536).contains(pageSize), header[0..<3].elementsEqual([0x37, 0x7F, 0x06]) else { return }
        var sum = Checksum(isBigEndian: header[3] & 1 == 1)
        sum.add(header[0..<24])
        guard sum.matches(header[24..<32]) else { return }
        var offset = headerSize
        while let bytes = read(file, at: offset, count: frameHeaderSize + pageSize),
            bytes[8..<16].elementsEqual(header[16..<24])
        {
            sum.add(bytes[0..<8])
            sum.add(bytes[frameHeaderSize...])
            guard sum.matches(bytes[16..<24]) else { return }
            let frame = Frame(
                page: number(bytes, at: 0), databaseSize: number(bytes, at: 4),
                changeCounter: number(bytes, at: frameHeaderSize + changeCounterOffset))
            guard body(frame) else { return }
            offset += bytes.count
        }
    }

    private static func number(_ bytes: [UInt8], at offset: Int) -> Int64 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int64($1) }
    }

    private static func read(_ file: Descriptor, at offset: Int, count: Int) -> [UInt8]? {
        let bytes = try? file.read(atMost: count, at: Int64(offset))
        return bytes?.count == count ? bytes : nil
    }

    /// SQLite's cumulative checksum.
    private struct Checksum {
        let isBigEndian: Bool
        private var sums: (UInt32, UInt32) = (0, 0)

        init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

        mutating func add(_ bytes: ArraySlice<UInt8>) {
            var offset = bytes.startIndex
            while offset + 8 <= bytes.endIndex {
                sums.0 = sums.0 &+ word(bytes, offset) &+ sums.1
                sums.1 = sums.1 &+ word(bytes, offset + 4) &+ sums.0
                offset += 8
            }
        }

        /// Stored in big-endian order, whatever the order of the words.
        func matches(_ bytes: ArraySlice<UInt8>) -> Bool {
            let stored = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return stored == UInt64(sums.0) << 32 | UInt64(sums.1)
        }

        private func word(_ bytes: ArraySlice<UInt8>, _ offset: Int) -> UInt32 {
            let (a, b, c, d) = (bytes[offset], bytes[offset + 1], bytes[offset + 2], bytes[offset + 3])
            return isBigEndian
                ? UInt32(a) << 24 | UInt32(b) << 16 | UInt32(c) << 8 | UInt32(d)
                : UInt32(d) << 24 | UInt32(c) << 16 | UInt32(b) << 8 | UInt32(a)
        }
    }

    /// The offset of SQLite's change counter in the database's header.
    fileprivate static let changeCounterOffset = 24
}

extension Connection {
    /// SQLite's change counter in the first page of the database file itself, whatever the WAL holds.
    func changeCounterOfFile() throws(StoreError) -> Int64 {
        var bytes = [UInt8](repeating: 0, count: WALFile.changeCounterOffset + 4)
        let code = unsafe vault_read_file(handle, &bytes, Int32(bytes.count))
        guard code == SQLITE_OK else { throw error(code) }
        return bytes.suffix(4).reduce(0) { $0 << 8 | Int64($1) }
    }
}
