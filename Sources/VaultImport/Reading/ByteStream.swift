/// The bytes of a source, through a window of fixed size: decompressed if it is gzip, and as UTF-8 if it is UTF-16.
/// Used by one thread at a time.
final class ByteStream {
    private static let windowBytes = 256 * 1024

    private var source: (any ByteSource)?
    private let file: FileBytes?
    private var window: [UInt8]
    private var position = 0
    private var end = 0
    /// The line of the next byte, from 1.
    private(set) var line = 1
    /// The error that ended the stream early.
    private(set) var failure: ImportError?
    private(set) var isPacked = false
    private(set) var isUTF16 = false

    init(path: String) throws(ImportError) {
        let file = try FileBytes(path: path)
        self.file = file
        source = file
        window = [UInt8](repeating: 0, count: Self.windowBytes)
        begin()
    }

    /// Bytes in memory, for tests and fuzzing.
    init(_ bytes: [UInt8]) {
        file = nil
        window = bytes
        end = bytes.count
        decode()
    }

    /// The share that was read; nil for bytes in memory.
    var progress: Double? { file?.progress }

    private func begin() {
        _ = fill()
        decode()
    }

    /// Inspects the first bytes, and inserts the decoders that they require.
    private func decode() {
        if window[..<end].starts(with: InflatedBytes.magic) {
            isPacked = true
            replaceSource { packed throws(ImportError) in try InflatedBytes(packed) }
        }
        if let isBigEndian = UTF16Bytes.isBigEndian(window[..<end]) {
            isUTF16 = true
            replaceSource { UTF16Bytes($0, isBigEndian: isBigEndian) }
        }
    }

    private func replaceSource(_ make: (any ByteSource) throws(ImportError) -> any ByteSource) {
        do {
            source = try make(PrefixedBytes(window[..<end], source))
        } catch {
            source = nil
            failure = error
        }
        window = [UInt8](repeating: 0, count: Self.windowBytes)
        end = 0
        _ = fill()
    }

    /// Nil at the end, and after a failure.
    func next() -> UInt8? {
        guard position < end || fill() else { return nil }
        let byte = window[position]
        position += 1
        if byte == 0x0A { line += 1 }
        return byte
    }

    func peek() -> UInt8? {
        guard position < end || fill() else { return nil }
        return window[position]
    }

    /// The byte after the next one.
    func peekSecond() -> UInt8? {
        guard position < end || fill() else { return nil }
        if position + 1 < end { return window[position + 1] }
        return fill(keeping: 1) ? window[position + 1] : nil
    }

    /// Call this at the end: a failed stream looks as if it had ended.
    func check() throws(ImportError) {
        if let failure { throw failure }
    }

    /// Everything up to the next line feed, without it; nil at the end, and after a failure. A carriage return before it is
    /// also removed.
    /// - Parameter longest: A longer line is reported without its content.
    func nextLine(longest: Int) -> TextLine? {
        guard position < end || fill() else { return nil }
        let number = line
        var bytes: [UInt8] = []
        var isTooLong = false
        while position < end || fill() {
            let rest = window[position..<end]
            let feed = rest.firstIndex(of: 0x0A)
            let piece = rest[..<(feed ?? end)]
            if isTooLong || bytes.count + piece.count > longest + 1 {
                isTooLong = true
                bytes = []
            } else {
                bytes += piece
            }
            position = feed.map { $0 + 1 } ?? end
            if feed != nil {
                line += 1
                break
            }
        }
        // What a failure cuts is no line.
        if number == line, failure != nil { return nil }
        if bytes.last == 0x0D { bytes.removeLast() }
        return TextLine(number: number, bytes: bytes, isTooLong: isTooLong || bytes.count > longest)
    }

    /// The first bytes, without consuming them. Fewer if there are no more.
    func head() -> ArraySlice<UInt8> {
        if position == end { _ = fill() }
        return window[position..<end]
    }

    func skip(_ count: Int) { position = min(position + count, end) }

    /// - Parameter kept: Bytes at the window's end that have not been consumed yet.
    private func fill(keeping kept: Int = 0) -> Bool {
        guard let source, failure == nil else { return false }
        for index in 0..<kept { window[index] = window[end - kept + index] }
        position = 0
        end = kept
        do throws(ImportError) {
            let count = try source.read(into: &window, from: kept)
            end += count
            return count > 0
        } catch {
            failure = error
            return false
        }
    }
}

struct TextLine {
    /// From 1.
    let number: Int
    /// Empty if the line is too long.
    let bytes: [UInt8]
    let isTooLong: Bool

    var isBlank: Bool { !isTooLong && bytes.allSatisfy { $0 == 0x20 || $0 == 0x09 } }
}

extension ByteStream {
    /// Skips a UTF-8 byte order mark.
    func skipByteOrderMark() {
        if head().starts(with: [0xEF, 0xBB, 0xBF]) { skip(3) }
    }
}

extension ByteStream {
    /// Whether the next byte is `first` and the one after it `second`. At the edge of the window the rest is moved up.
    func peek(second: UInt8, after first: UInt8) -> Bool {
        guard peek() == first else { return false }
        return peekSecond() == second
    }
}
