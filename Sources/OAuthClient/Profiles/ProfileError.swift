/// The reason why a profile cannot be used. It names the file and the field, never a value.
public struct ProfileError: Error, Hashable, Sendable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private let text: CodeText

        package init(_ name: String, _ words: String) {
            text = CodeText(name: name, words: words)
        }

        /// The name of the code, for instance `unknownField`. Stable: for programs and logs.
        public var name: String { text.name }
        public var description: String { name }
        /// The text for people, part of the error's description.
        package var words: String { text.words }

        public static let tooLarge = Code("tooLarge", "is larger than 64 KiB")
        public static let notJSON = Code("notJSON", "is not a JSON object")
        public static let missing = Code("missing", "is a missing field")
        public static let unknownField = Code("unknownField", "is not a field of a profile")
        public static let givenTwice = Code("givenTwice", "is given twice")
        public static let wrongType = Code("wrongType", "has the wrong type")
        public static let notAllowed = Code("notAllowed", "has a value that is not allowed")
        public static let contradiction = Code("contradiction", "contradicts another field")
        /// No profile has this name.
        public static let unknownProfile = Code("unknownProfile", "is not the name of a profile")
    }

    public let code: Code
    public let file: String
    /// The field with its sections, such as `refresh.graceSeconds`; nil for the whole file.
    public let field: String?
    /// A valid value.
    public let detail: String?

    package init(_ code: Code, file: String, field: String? = nil, detail: String? = nil) {
        self.code = code
        self.file = file
        self.field = field
        self.detail = detail
    }

    public var description: String {
        let subject = field.map { "\(file): \($0)" } ?? file
        return "\(subject) \(code.words)" + (detail.map { ": \($0)" } ?? "")
    }
}
