/// The name and the text of an error code. Two codes are equal if their names are.
struct CodeText: Hashable, Sendable {
    /// For programs and logs. Never changes.
    let name: String
    /// For people. May change.
    let words: String

    static func == (left: CodeText, right: CodeText) -> Bool { left.name == right.name }

    func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
