import FoundationEssentials

/// A JSON document whose members keep their order.
enum JSONValue {
    case null
    case bool(Bool)
    case integer(Int)
    case string(String)
    /// UTC, to the second: `2026-11-21T03:15:00Z`.
    case date(Date)
    case array([JSONValue])
    case object([(String, JSONValue)])

    /// One line. Deceptive characters are escaped, so that it can be printed on a terminal.
    var text: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .string(let value): Self.write(value, to: &text)
        case .date(let value): Self.write(value.formatted(.iso8601), to: &text)
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                text += index == 0 ? "" : ","
                value.write(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                text += index == 0 ? "" : ","
                Self.write(member.0, to: &text)
                text += ":"
                member.1.write(to: &text)
            }
            text += "}"
        }
    }

    private static func write(_ value: String, to text: inout String) {
        text += "\""
        // Most are names and ids.
        if value.utf8.allSatisfy({ (0x20..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C }) {
            text += value + "\""
            return
        }
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where Printable.isDeceptive(scalar):
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}

extension JSONValue: ExpressibleByStringLiteral {
    init(stringLiteral value: String) { self = .string(value) }
}

/// A value that can be in a JSON document.
protocol JSONConvertible {
    var json: JSONValue { get }
}

extension JSONValue: JSONConvertible {
    var json: JSONValue { self }
}

extension Bool: JSONConvertible {
    var json: JSONValue { .bool(self) }
}

extension Int: JSONConvertible {
    var json: JSONValue { .integer(self) }
}

extension String: JSONConvertible {
    var json: JSONValue { .string(self) }
}

extension Date: JSONConvertible {
    var json: JSONValue { .date(self) }
}

extension Optional: JSONConvertible where Wrapped: JSONConvertible {
    var json: JSONValue { self?.json ?? .null }
}

extension Array: JSONConvertible where Element: JSONConvertible {
    var json: JSONValue { .array(map(\.json)) }
}
