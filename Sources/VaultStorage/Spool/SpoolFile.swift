import Platform
import VaultCrypto

/// One open spool file, locked while this value exists. So no other process reads it half written, or cleans it up
/// while its owner can still write to it.
final class SpoolFile {
    /// The initial size of a file, and the steps in which it grows.
    static let growth = 64 * 1024
    static let limit = 4 * 1024 * 1024
    /// The maximum space to reserve for future replies. Half of the file's limit may already be used by replies that
    /// could not be stored yet.
    static let mostReserved = limit / 2

    /// - Parameter count: the number of requests under way. A usual reply takes one page. The result is a whole number
    ///   of steps, so that the file seldom grows.
    static func reserve(for count: Int) -> Int {
        let pages = max(0, min(count, mostReserved / SpoolFrame.pageByteCount))
        let needed = pages * SpoolFrame.pageByteCount
        return min(mostReserved, max(growth, (needed + growth - 1) / growth * growth))
    }

    private let file: GuardedDescriptor
    private(set) var byteCount: Int
    /// The ranges that must not be overwritten, sorted and without overlap.
    private var taken: [Range<Int>] = []

    /// - Parameter number: an open descriptor with `O_DSYNC`. The new value takes it over.
    init(_ file: GuardedDescriptor, path: String, isNew: Bool) throws(StoreError) {
        self.file = file
        byteCount = 0
        try PrivateFile.check(file, path)
        try lock()
        if isNew {
            try grow(by: Self.growth)
        } else {
            taken = SpoolImage(try read()).pieces.map(\.range)
        }
    }

    /// Waits as long as necessary. A sibling that cleans up keeps the lock while it reads the file, which may take long
    /// on a busy machine. Giving up would leave a token only in memory.
    private func lock() throws(StoreError) {
        for _ in 0..<2000 {
            if file.setLock(start: 0, length: 0) { return }
            CurrentThread.pause(microseconds: 1_000)
        }
        throw StoreError(
            .busy, "another process works on a spool file", hint: "try again; find a stopped process if it lasts")
    }

    /// Whether data that is written here can be found again: the descriptor is still its own, and the file has a name.
    var isUsable: Bool {
        file.isIntact && (try? file.status().linkCount) == 1
    }

    var isEmpty: Bool { taken.isEmpty }

    var freeByteCount: Int { byteCount - taken.reduce(0) { $0 + $1.count } }

    /// The whole file.
    func read() throws(StoreError) -> [UInt8] {
        let bytes = try Self.read(file)
        byteCount = bytes.count
        return bytes
    }

    static func read(_ file: some OpenDescriptor) throws(StoreError) -> [UInt8] {
        let size = try translating("read") { () throws(SystemError) in try file.status().size }
        guard size <= Self.limit else {
            throw StoreError(.damaged, "a spool file is longer than any that a vault writes")
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(size))
        while bytes.count < size {
            let piece = try translating("read") { () throws(SystemError) in
                try file.read(atMost: Int(size) - bytes.count, at: Int64(bytes.count))
            }
            guard !piece.isEmpty else {
                throw StoreError(.damaged, "a spool file became shorter while it was read")
            }
            bytes += piece
        }
        return bytes
    }

    /// Ensures that this number of bytes can be written without requesting space from the file system.
    func reserve(_ needed: Int) throws(StoreError) {
        guard freeByteCount < needed else { return }
        try grow(by: needed - freeByteCount)
    }

    /// Writes a frame durably where there is room for it. A place where writing failed is never used again, because its
    /// content is unknown.
    func write(_ frame: [UInt8]) throws(StoreError) {
        var failure: StoreError?
        for _ in 0..<2 {
            let place = try room(for: frame.count)
            occupy(place)
            do throws(StoreError) { return try write(frame, at: place.lowerBound) } catch { failure = error }
        }
        throw failure ?? .diskFull
    }

    /// Removes all entries with that name.
    func remove(_ name: Bytes16) throws(StoreError) {
        for piece in SpoolImage(try read()).pieces where piece.name == name {
            var rest = piece.range
            if let head = piece.head {
                let cellByteCount = piece.range.count - SpoolFrame.cellOffset
                // After this write the entry is durably removed.
                try write(SpoolFrame.tombstone(head, cellByteCount: cellByteCount), at: rest.lowerBound)
                rest = rest.lowerBound + SpoolFrame.sectorByteCount..<rest.upperBound
            }
            try write([UInt8](repeating: 0, count: rest.count), at: rest.lowerBound)
            taken.removeAll { $0 == piece.range }
        }
    }

    // MARK: Room

    private func room(for count: Int) throws(StoreError) -> Range<Int> {
        if let place = gap(of: count) { return place }
        let last = taken.last.map(\.upperBound) ?? 0
        try grow(by: count - (byteCount - last))
        guard let place = gap(of: count) else { throw .diskFull }
        return place
    }

    /// The first gap that is long enough.
    private func gap(of count: Int) -> Range<Int>? {
        var start = 0
        for range in taken {
            if range.lowerBound - start >= count { return start..<start + count }
            start = range.upperBound
        }
        return byteCount - start >= count ? start..<start + count : nil
    }

    private func occupy(_ range: Range<Int>) {
        let index = taken.firstIndex { $0.lowerBound > range.lowerBound } ?? taken.endIndex
        taken.insert(range, at: index)
    }

    /// Requests at least `count` bytes from the file system, and more if available.
    private func grow(by count: Int) throws(StoreError) {
        let page = SpoolFrame.pageByteCount
        let least = (count + page - 1) / page * page
        let full = (count + Self.growth - 1) / Self.growth * Self.growth
        guard byteCount + least <= Self.limit else { throw .diskFull }
        var grown = full
        do throws(SystemError) { try file.allocate(full, at: byteCount) } catch {
            guard error == .noSpace, least < full else { throw Self.failure(error, "extended") }
            grown = least
            try Self.translating("extended") { () throws(SystemError) in try file.allocate(least, at: byteCount) }
        }
        // Space that was written before needs no change of the file's metadata when it is written again.
        let start = byteCount
        byteCount += grown
        try write([UInt8](repeating: 0, count: grown), at: start)
        try Self.translating("made durable") { () throws(SystemError) in try file.synchronize() }
    }

    // MARK: Writing

    private func write(_ bytes: [UInt8], at offset: Int) throws(StoreError) {
        try Self.translating("written") { () throws(SystemError) in try file.writeAll(bytes, at: Int64(offset)) }
    }

    private static func translating<R>(
        _ what: String, _ body: () throws(SystemError) -> R
    ) throws(StoreError) -> R {
        do throws(SystemError) { return try body() } catch { throw failure(error, what) }
    }

    private static func failure(_ error: SystemError, _ what: String) -> StoreError {
        switch error {
        case .noSpace, .overQuota: .diskFull
        case .readOnlyFileSystem: .turnedReadOnly
        case .accessDenied, .notPermitted: StoreError(.readOnly, "a spool file cannot be \(what)")
        default: StoreError(.io(error), "a spool file cannot be \(what): \(error.text)")
        }
    }
}
