import CZlib

/// Decompresses deflated bytes, step by step, with the system's zlib. The only file that uses zlib.
@safe package final class Inflater {
    /// The framing around the data.
    package enum Format: Sendable, CaseIterable {
        /// RFC 1952.
        case gzip
        /// RFC 1950, which HTTP calls `deflate`.
        case zlib
        /// RFC 1951, bare, which some servers call `deflate`.
        case bare

        fileprivate var code: Int32 {
            switch self {
            case .gzip: Int32(VAULT_INFLATER_GZIP.rawValue)
            case .zlib: Int32(VAULT_INFLATER_ZLIB.rawValue)
            case .bare: Int32(VAULT_INFLATER_DEFLATE.rawValue)
            }
        }
    }

    package struct Step: Sendable {
        package var taken: Int
        package var given: Int
        package var isEnd: Bool
    }

    private let inflater: OpaquePointer

    /// Nil if memory is exhausted.
    package init?(_ format: Format) {
        guard let made = unsafe vault_inflater_new(format.code) else { return nil }
        unsafe inflater = made
    }

    deinit { unsafe vault_inflater_free(inflater) }

    /// Starts the next member of a file.
    package func reset() -> Bool { unsafe vault_inflater_reset(inflater) != 0 }

    /// Consumes as much of `input` as possible, and writes as much as possible to `output`. Nil if the data is not in
    /// the declared format.
    package func step(
        _ input: borrowing [UInt8], from start: Int, to end: Int, into output: inout [UInt8], from offset: Int
    ) -> Step? {
        guard (0...end).contains(start), end <= input.count, (0...output.count).contains(offset) else { return nil }
        var taken = end - start
        var given = output.count - offset
        let result = unsafe input.withUnsafeBufferPointer { input in
            unsafe output.withUnsafeMutableBufferPointer { output in
                unsafe vault_inflater_step(
                    inflater, input.baseAddress.map { unsafe $0 + start }, &taken,
                    output.baseAddress.map { unsafe $0 + offset }, &given)
            }
        }
        let isEnd = result == VAULT_INFLATER_END.rawValue
        guard isEnd || result == VAULT_INFLATER_MORE.rawValue && (taken > 0 || given > 0) else { return nil }
        return Step(taken: taken, given: given, isEnd: isEnd)
    }
}

extension Inflater {
    package enum Failure: Error, Equatable, Sendable {
        /// The decompressed data exceeds the limit.
        case tooLarge
        /// The data is not in the declared format, or is truncated. The readable part is attached.
        case damaged([UInt8])
    }

    /// Decompresses these bytes, up to a limit.
    package static func inflate(
        _ packed: [UInt8], _ format: Format, limit: Int
    ) throws(Failure) -> [UInt8] {
        guard let inflater = Inflater(format) else { throw .damaged([]) }
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 * 1_024)
        var position = 0
        while true {
            guard let step = inflater.step(packed, from: position, to: packed.count, into: &buffer, from: 0) else {
                throw .damaged(output)
            }
            position += step.taken
            guard output.count + step.given <= limit else { throw .tooLarge }
            output += buffer.prefix(step.given)
            guard step.isEnd else { continue }
            // A gzip file may have several members.
            guard format == .gzip, packed[position...].starts(with: [0x1F, 0x8B]), inflater.reset() else {
                return output
            }
        }
    }
}
