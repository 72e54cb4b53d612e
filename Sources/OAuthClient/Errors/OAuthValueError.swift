/// A value that does not have the form that its RFC requires. It names the defect, never the value.
public struct OAuthValueError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of defect.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private let text: CodeText

        package init(_ name: String, _ words: String) {
            text = CodeText(name: name, words: words)
        }

        /// The name of the code, for instance `tooLong`. Stable: for programs and logs.
        public var name: String { text.name }
        public var description: String { name }
        /// The text for people, part of the error's description.
        package var words: String { text.words }

        /// The value has no characters.
        public static let empty = Code("empty", "is empty")
        /// The value is longer than any server could need.
        public static let tooLong = Code("tooLong", "is too long")
        /// The key has fewer bits than its algorithm needs.
        public static let tooShort = Code("tooShort", "is too short")
        /// The value has characters outside the set that its RFC allows.
        public static let forbiddenCharacter = Code("forbiddenCharacter", "has a character that is not allowed")
        /// The value does not follow the grammar of its RFC.
        public static let malformed = Code("malformed", "is malformed")
        /// The same, with the rule that the value breaks: `it has a query`.
        static func malformed(_ rule: String) -> Code { Code("malformed", "is malformed: \(rule)") }
        /// The key is well-formed, and on an elliptic curve that no supported algorithm uses.
        public static let otherCurve = Code("otherCurve", "is on a curve other than P-256")
        /// Two values that must belong together do not.
        public static let mismatched = Code("mismatched", "does not belong to it")
        /// The URL is neither `https` nor an explicitly allowed loopback address.
        public static let insecure = Code("insecure", "is neither https nor an allowed loopback address")
    }

    public let code: Code
    /// The kind of value, such as `access token`.
    public let subject: String

    package init(_ code: Code, _ subject: String) {
        self.code = code
        self.subject = subject
    }

    public var description: String { "the \(subject) \(code.words)" }
}
