import OAuthClient

/// A value as its container returns it: no type is guessed from its text.
enum RawValue: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    /// A number as written.
    case number(String)
    case text(String)
    case bytes([UInt8])
    case array([JSONValue])
    case object(JSONObject)
    /// An unusable value, whatever its intended type.
    case fault(RejectReason)

    init(_ value: JSONValue) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .number(let text): self = .number(text)
        case .string(let text): self = .text(text)
        case .array(let values): self = .array(values)
        case .object(let object): self = .object(object)
        case .ambiguous: self = .fault(.ambiguousMember)
        }
    }
}

/// The meaning of a value in a text column.
enum TextReading {
    case none
    case text(String)
    case reject(RejectReason)
}

extension RawValue {
    var isNull: Bool { if case .null = self { true } else { false } }

    /// Ids are integers in some databases and texts in others; `""` counts as missing.
    var reading: TextReading {
        switch self {
        case .null: .none
        case .text(let text): text.isEmpty ? .none : .text(text)
        case .integer(let number): .text(String(number))
        case .number(let text): .text(text)
        case .bytes(let bytes):
            if bytes.isEmpty {
                .none
            } else {
                String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .reject(.notUTF8)
            }
        case .fault(let reason): .reject(reason)
        case .bool, .real, .array, .object: .reject(.malformedValue)
        }
    }

    /// The text, if it is one.
    var text: String? { if case .text(let text) = reading { text } else { nil } }

    /// The key for looking up rows.
    var key: String? {
        switch self {
        case .text(let text): text
        case .integer(let number): String(number)
        case .number(let text): text
        default: nil
        }
    }

    /// A number, also from a text of digits.
    var integer: Int64? {
        switch self {
        case .integer(let number): number
        case .number(let text), .text(let text): Int64(text)
        case .real(let number): Int64(exactly: number)
        default: nil
        }
    }

    /// Whether it means true, in any database's notation.
    var isTrue: Bool {
        switch self {
        case .bool(let value): value
        case .integer(let number): number != 0
        case .number(let text): text != "0"
        case .text(let text): ["t", "true", "1", "TRUE"].contains(text)
        default: false
        }
    }

    /// A JSON object, also as text, or as text within a JSON string, which older programs wrote.
    var jsonObject: JSONObject? {
        switch self {
        case .object(let object): object
        case .text(let text): Self.object(in: text)
        case .bytes(let bytes): String(validating: bytes, as: UTF8.self).flatMap { Self.object(in: $0) }
        default: nil
        }
    }

    /// How many times a document may have been wrapped in a text.
    private static let mostWraps = 4

    private static func object(in text: String) -> JSONObject? {
        var text = text
        for _ in 0..<mostWraps {
            if let object = try? JSONObject(document: Array(text.utf8)) { return object }
            guard let inner = unwrapped(text) else { return nil }
            text = inner
        }
        return nil
    }

    /// The content of a JSON string, even if its quotes have been lost.
    private static func unwrapped(_ text: String) -> String? {
        let isQuoted = text.first == "\""
        guard isQuoted || text.hasPrefix("{\\") else { return nil }
        let literal = isQuoted ? text : "\"\(text)\""
        guard let wrapped = try? JSONObject(document: Array("{\"v\":\(literal)}".utf8)),
            case .string(let inner)? = wrapped["v"]
        else { return nil }
        return inner
    }

    /// Whether a document is missing: also `null`, and an empty text within a JSON string.
    var isEmptyDocument: Bool {
        guard case .text(var text) = reading else {
            if case .none = reading { return true }
            return false
        }
        for _ in 0..<Self.mostWraps {
            if text.isEmpty || text == "null" { return true }
            guard let inner = Self.unwrapped(text) else { return false }
            text = inner
        }
        return false
    }
}
