/// Why a profile cannot be used. Names the file and the field, never a value.
public struct ProfileError: Error, Hashable, Sendable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        public static let tooLarge = Code(description: "is larger than 64 KiB")
        public static let notJSON = Code(description: "is not a JSON object")
        public static let missing = Code(description: "is missing")
        public static let unknownField = Code(description: "is not a field of a profile")
        public static let givenTwice = Code(description: "is given twice")
        public static let wrongType = Code(description: "has the wrong type")
        public static let notAllowed = Code(description: "has a value that is not allowed")
        public static let contradiction = Code(description: "contradicts another field")
        /// No profile has this name.
        public static let unknownProfile = Code(description: "is not the name of a profile")
    }

    public let code: Code
    public let file: String
    /// With its sections, such as `refresh.graceSeconds`; nil if the whole file is meant.
    public let field: String?
    /// What would be right.
    public let detail: String?

    package init(_ code: Code, file: String, field: String? = nil, detail: String? = nil) {
        self.code = code
        self.file = file
        self.field = field
        self.detail = detail
    }

    public var description: String {
        let subject = field.map { "\(file): \($0)" } ?? file
        return "\(subject) \(code)" + (detail.map { ": \($0)" } ?? "")
    }
}
