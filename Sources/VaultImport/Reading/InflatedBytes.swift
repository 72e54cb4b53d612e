import Inflation

/// The contents of a gzip file (RFC 1952), member by member. Its memory use is constant.
final class InflatedBytes: ByteSource {
    static let magic: [UInt8] = [0x1F, 0x8B]

    private let packed: any ByteSource
    private let inflater: Inflater
    private var input = [UInt8](repeating: 0, count: 64 * 1_024)
    private var position = 0
    private var end = 0
    private var isBetweenMembers = false

    init(_ packed: any ByteSource) throws(ImportError) {
        guard let inflater = Inflater(.gzip) else {
            throw ImportError(.unreadableFile, "there is not enough memory")
        }
        self.inflater = inflater
        self.packed = packed
    }

    func read(into buffer: inout [UInt8], from offset: Int) throws(ImportError) -> Int {
        while true {
            if position == end {
                (position, end) = (0, try packed.read(into: &input, from: 0))
                if end == 0 {
                    guard !isBetweenMembers else { return 0 }
                    throw ImportError(
                        .damagedSource, "the compressed source ends in the middle", hint: "make it again")
                }
            }
            if isBetweenMembers, try !beginsMember() { continue }
            let count = try step(&buffer, offset)
            if count > 0 { return count }
        }
    }

    /// After a member, another one may follow, or zeros that fill a block.
    private func beginsMember() throws(ImportError) -> Bool {
        while position < end, input[position] == 0 { position += 1 }
        guard position < end else { return false }
        guard input[position] == Self.magic[0], inflater.reset() else { throw damaged }
        isBetweenMembers = false
        return true
    }

    private func step(_ buffer: inout [UInt8], _ offset: Int) throws(ImportError) -> Int {
        guard let step = inflater.step(input, from: position, to: end, into: &buffer, from: offset) else {
            throw damaged
        }
        position += step.taken
        isBetweenMembers = step.isEnd
        return step.given
    }

    private var damaged: ImportError {
        ImportError(.damagedSource, "the compressed source is damaged", hint: "check it: gzip -t FILE")
    }
}
