import FoundationEssentials
import OAuthClient

/// SQL fragments that SQLite and PostgreSQL interpret in the same way.
enum SQLText {
    static let opening = "BEGIN;\n"
    static let closing = "COMMIT;\n"

    /// A literal with standard quotes, where a backslash is an ordinary character.
    static func quote(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }

    static func quote(_ text: String?) -> String { text.map { quote($0) } ?? "NULL" }

    /// Database texts cannot contain a zero byte.
    static func canHold(_ texts: String?...) -> Bool {
        texts.allSatisfy { $0?.utf8.contains(0) != true }
    }
}

extension ExportedLogin {
    /// The refusal shared by all tables that look up rows by text and store no key.
    func sqlRefusal(_ limits: (value: String?, length: Int)...) -> ExportRefusal? {
        if dpopKey != nil { return .keyBound }
        guard SQLText.canHold(userId, provider, subject) else { return .unrepresentable }
        let fits = limits.allSatisfy { ($0.value?.unicodeScalars.count ?? 0) <= $0.length }
        return fits ? nil : .tooLong
    }
}
