import OAuthClient

/// One line of a `COPY` block in PostgreSQL's text format.
enum CopyText {
    static func values(_ line: [UInt8]) -> [RawValue] {
        var values: [RawValue] = []
        var start = line.startIndex
        while true {
            let end = line[start...].firstIndex(of: 0x09) ?? line.endIndex
            values.append(value(line[start..<end]))
            if end == line.endIndex { return values }
            start = end + 1
        }
    }

    private static func value(_ field: ArraySlice<UInt8>) -> RawValue {
        if field.elementsEqual("\\N".utf8) { return .null }
        let bytes = field.contains(UInt8(ascii: "\\")) ? unescaped(field) : Array(field)
        return String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .fault(.notUTF8)
    }

    private static func unescaped(_ field: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = field
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() else {
                bytes.append(byte)
                continue
            }
            switch escaped {
            case UInt8(ascii: "b"): bytes.append(0x08)
            case UInt8(ascii: "f"): bytes.append(0x0C)
            case UInt8(ascii: "n"): bytes.append(0x0A)
            case UInt8(ascii: "r"): bytes.append(0x0D)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case UInt8(ascii: "v"): bytes.append(0x0B)
            case UInt8(ascii: "0")...UInt8(ascii: "7"):
                bytes.append(number(escaped - UInt8(ascii: "0"), &rest, digits: 2, base: 8))
            case UInt8(ascii: "x") where rest.first.flatMap(Hex.value) != nil:
                bytes.append(number(0, &rest, digits: 2, base: 16))
            default: bytes.append(escaped)
            }
        }
        return bytes
    }

    private static func number(_ first: UInt8, _ rest: inout ArraySlice<UInt8>, digits: Int, base: UInt8) -> UInt8 {
        var value = first
        for _ in 0..<digits {
            guard let next = rest.first, let digit = Hex.value(next), digit < base else { break }
            value = value &* base &+ digit
            rest.removeFirst()
        }
        return value
    }
}
