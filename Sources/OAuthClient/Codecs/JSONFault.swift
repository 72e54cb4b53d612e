/// The position where a document stops being JSON, for the person who wrote it. It quotes nothing.
struct JSONFault {
    let words: String

    init(in bytes: [UInt8], _ error: JSONError) {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        var scanner = JSONScanner(bytes, start..<bytes.count)
        let isBlank = scanner.next() == nil
        switch error {
        case .notUTF8: words = "it is not UTF-8"
        case _ where isBlank: words = "it is empty"
        case .notAnObject: words = "it must begin with {"
        case .tooDeep: words = "it is nested too deeply"
        case .tooMany: words = "it has too many members"
        default:
            _ = try? scanner.skipValue()
            if error == .trailingBytes { _ = scanner.next() }
            let place = Self.place(of: scanner.position, in: bytes[start...])
            words =
                switch error {
                case _ where error != .trailingBytes && scanner.position >= bytes.count:
                    "it ends too early, in line \(place.line)"
                case .trailingBytes: "there is more text after its end, in \(place.words)"
                default: "\(place.words) is not JSON"
                }
        }
    }

    private static func place(of position: Int, in bytes: ArraySlice<UInt8>) -> (line: Int, words: String) {
        let before = bytes.prefix(upTo: min(position, bytes.endIndex))
        let line = before.count { $0 == 0x0A } + 1
        let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? before.startIndex
        // Columns are characters, as editors count them.
        let column = String(decoding: before[start...], as: UTF8.self).count + 1
        return (line, "line \(line), column \(column)")
    }
}
