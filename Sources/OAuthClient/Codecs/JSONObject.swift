/// A JSON object, validated as a whole and decoded member by member on demand.
///
/// Members that are not read are never copied, because the reply of a token endpoint contains secrets.
package struct JSONObject: Sendable {
    private struct Member: Sendable {
        let name: String
        let range: Range<Int>
    }

    private static let maximumMembers = 1_024

    private let bytes: [UInt8]
    private let members: [Member]

    /// Reads a document: one object in UTF-8, followed only by white space. A byte order mark is skipped (RFC 8259
    /// §8.1).
    package init(document bytes: [UInt8]) throws(JSONError) {
        do { _ = try UTF8Span(validating: bytes.span) } catch { throw .notUTF8 }
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        var scanner = JSONScanner(bytes, start..<bytes.count)
        try self.init(&scanner, depth: 0)
        guard scanner.next() == nil else { throw .trailingBytes }
    }

    private init(_ scanner: inout JSONScanner, depth: Int) throws(JSONError) {
        guard let first = scanner.next() else { throw .unexpectedEnd }
        guard first == UInt8(ascii: "{") else { throw .notAnObject }
        bytes = scanner.bytes
        var members: [Member] = []
        try scanner.take(UInt8(ascii: "{"))
        if scanner.takeIfPresent(UInt8(ascii: "}")) {
            self.members = members
            return
        }
        repeat {
            let name = try scanner.string()
            try scanner.take(UInt8(ascii: ":"))
            members.append(Member(name: name, range: try scanner.skipValue(depth: depth + 1)))
            guard members.count <= Self.maximumMembers else { throw .tooMany }
        } while scanner.takeIfPresent(UInt8(ascii: ","))
        try scanner.take(UInt8(ascii: "}"))
        self.members = members
    }

    /// The members' names in order; a repeated name is listed twice.
    package var names: [String] { members.map(\.name) }

    /// Whether the members' names are these, in this order.
    package func hasNames(_ names: [String]) -> Bool {
        members.count == names.count && zip(members, names).allSatisfy { $0.name == $1 }
    }

    /// The value of `name`: nil if it is missing, ``JSONValue/ambiguous`` if it has different values.
    package subscript(name: String) -> JSONValue? {
        let found = members.filter { $0.name == name }
        guard let first = found.first else { return nil }
        guard found.dropFirst().allSatisfy({ bytes[$0.range].elementsEqual(bytes[first.range]) }) else {
            return .ambiguous
        }
        return value(first.range)
    }

    /// The value of `name` as written; nil if it is missing or has different values.
    package func text(of name: String) -> String? {
        let found = members.filter { $0.name == name }
        guard let first = found.first,
            found.dropFirst().allSatisfy({ bytes[$0.range].elementsEqual(bytes[first.range]) })
        else { return nil }
        return String(decoding: bytes[first.range], as: UTF8.self)
    }

    private func value(_ range: Range<Int>) -> JSONValue {
        guard let first = bytes[range].first else { return .ambiguous }
        var scanner = JSONScanner(bytes, range)
        switch first {
        case UInt8(ascii: "\""): return (try? scanner.string()).map { .string($0) } ?? .ambiguous
        case UInt8(ascii: "{"): return (try? JSONObject(&scanner, depth: 0)).map { .object($0) } ?? .ambiguous
        case UInt8(ascii: "["): return (try? elements(&scanner)).map { .array($0) } ?? .ambiguous
        case UInt8(ascii: "t"): return .bool(true)
        case UInt8(ascii: "f"): return .bool(false)
        case UInt8(ascii: "n"): return .null
        default: return .number(String(decoding: bytes[range], as: UTF8.self))
        }
    }

    private func elements(_ scanner: inout JSONScanner) throws(JSONError) -> [JSONValue] {
        var elements: [JSONValue] = []
        try scanner.take(UInt8(ascii: "["))
        if scanner.takeIfPresent(UInt8(ascii: "]")) { return elements }
        repeat {
            let range = try scanner.skipValue(depth: 1)
            // No document that is read here has nested lists, so their contents are not decoded.
            elements.append(bytes[range].first == UInt8(ascii: "[") ? .null : value(range))
            guard elements.count <= Self.maximumMembers else { throw .tooMany }
        } while scanner.takeIfPresent(UInt8(ascii: ","))
        try scanner.take(UInt8(ascii: "]"))
        return elements
    }
}

package enum JSONValue: Sendable {
    case null
    case bool(Bool)
    /// As written, because `1e999` and `-0` mean different things to different readers.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)
    /// Repeated with different values, or beyond a limit.
    case ambiguous
}
