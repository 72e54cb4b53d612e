import OAuthClient

/// A value as its container gives it: nothing is guessed from its look.
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
    /// What cannot be used, whatever it was meant to be.
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

/// What a value says where a text is wanted.
enum TextReading {
    case none
    case text(String)
    case reject(RejectReason)
}

extension RawValue {
    var isNull: Bool { if case .null = self { true } else { false } }

    /// Ids are integers in one database and texts in the next; `""` is nothing.
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

    /// For finding rows by their keys.
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

    /// Whether it means yes, in any of the databases' ways of saying so.
    var isTrue: Bool {
        switch self {
        case .bool(let value): value
        case .integer(let number): number != 0
        case .number(let text): text != "0"
        case .text(let text): ["t", "true", "1", "TRUE"].contains(text)
        default: false
        }
    }

    /// A JSON object, also as text, and as text within a JSON string: what older programs have written.
    var jsonObject: JSONObject? {
        switch self {
        case .object(let object): return object
        case .text(let text):
            if let object = try? JSONObject(document: Array(text.utf8)) { return object }
            guard text.first == "\"", let wrapped = try? JSONObject(document: Array("{\"v\":\(text)}".utf8)),
                case .string(let inner)? = wrapped["v"]
            else { return nil }
            return try? JSONObject(document: Array(inner.utf8))
        case .bytes(let bytes): return try? JSONObject(document: bytes)
        default: return nil
        }
    }
}
