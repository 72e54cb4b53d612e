import CFaultVFS
import TestSupport

/// The files of a vault as a disk has them: what is safe, and what was written since.
struct Disk {
    private struct File {
        var safe: [UInt8]
        /// What was written since, in its order.
        var pending: [Change] = []
    }

    private enum Change {
        case sector(offset: Int, bytes: [UInt8])
        case size(Int)
    }

    private static let sectorSize = 512

    private var database: File
    private var wal: File
    private let others: [String: [UInt8]]
    /// The last mark so far.
    private(set) var mark: Int?

    init(_ image: Image) {
        database = File(safe: image.files["vault.db"] ?? [])
        wal = File(safe: image.files["vault.db-wal"] ?? [])
        others = image.files.filter { !$0.key.hasPrefix("vault.db") }
    }

    mutating func apply(_ record: fault_record) {
        if unsafe record.operation == 0 {
            mark = unsafe Int(record.mark)
        } else if unsafe record.file == FAULT_WAL.rawValue {
            unsafe Self.apply(record, to: &wal)
        } else {
            unsafe Self.apply(record, to: &database)
        }
    }

    private static func apply(_ record: fault_record, to file: inout File) {
        let offset = unsafe Int(record.offset)
        switch unsafe record.operation {
        case FAULT_SYNC.rawValue:
            // After a failure Linux may take what it could not write for written, and never try again.
            if unsafe record.length >= 0 { for change in file.pending { apply(change, to: &file.safe) } }
            file.pending = []
        case FAULT_TRUNCATE.rawValue:
            file.pending.append(.size(offset))
        default:
            let bytes = unsafe [UInt8](UnsafeBufferPointer(start: record.bytes, count: Int(record.length)))
            var start = 0
            while start < bytes.count {
                let end = min(bytes.count, (offset + start) / sectorSize * sectorSize + sectorSize - offset)
                file.pending.append(.sector(offset: offset + start, bytes: Array(bytes[start..<end])))
                start = end
            }
        }
    }

    /// What may be left of the files if the power fails now.
    func remains(_ generator: inout SeededGenerator) -> Image {
        var files = others
        files["vault.db"] = Self.remains(of: database, &generator)
        files["vault.db-wal"] = Self.remains(of: wal, &generator)
        return Image(files: files)
    }

    private static func remains(of file: File, _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = file.safe
        let shares: [Double] = [0, 0.1, 0.5, 0.9, 1]
        let share = shares.randomElement(using: &generator) ?? 0
        let isReordered = Bool.random(using: &generator)
        let changes = isReordered ? file.pending.shuffled(using: &generator) : file.pending
        for change in changes where Double.random(in: 0..<1, using: &generator) < share {
            apply(change, to: &bytes)
        }
        return bytes
    }

    private static func apply(_ change: Change, to bytes: inout [UInt8]) {
        switch change {
        case .sector(let offset, let sector): write(sector, at: offset, to: &bytes)
        case .size(let size): resize(&bytes, to: size)
        }
    }

    private static func write(_ new: [UInt8], at offset: Int, to bytes: inout [UInt8]) {
        if bytes.count < offset + new.count { resize(&bytes, to: offset + new.count) }
        bytes.replaceSubrange(offset..<(offset + new.count), with: new)
    }

    private static func resize(_ bytes: inout [UInt8], to size: Int) {
        if size < bytes.count {
            bytes.removeLast(bytes.count - size)
        } else {
            // Not `repeatElement`, which a debug build appends byte by byte.
            bytes.append(contentsOf: [UInt8](repeating: 0, count: size - bytes.count))
        }
    }
}
