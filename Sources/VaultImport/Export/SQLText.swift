import FoundationEssentials
import OAuthClient

/// Pieces of SQL that SQLite and PostgreSQL read alike.
enum SQLText {
    static let opening = "BEGIN;\n"
    static let closing = "COMMIT;\n"

    /// A literal. The quotes of the standard; a backslash means itself.
    static func quote(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }

    static func quote(_ text: String?) -> String { text.map { quote($0) } ?? "NULL" }

    /// No text of a database holds a zero byte.
    static func canHold(_ texts: String?...) -> Bool {
        texts.allSatisfy { $0?.utf8.contains(0) != true }
    }
}

extension ExportedLogin {
    /// What all tables have in common that find rows by text and hold no key.
    func sqlRefusal(_ limits: (value: String?, length: Int)...) -> ExportRefusal? {
        if dpopKey != nil { return .keyBound }
        guard SQLText.canHold(userId, provider, subject) else { return .unrepresentable }
        let fits = limits.allSatisfy { ($0.value?.unicodeScalars.count ?? 0) <= $0.length }
        return fits ? nil : .tooLong
    }
}
