/// Why nothing can be exported to where it should go. It holds no token and no user id.
public struct ExportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What a program can act on. New codes may appear in later versions.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// Stable, for programs and logs.
        public let name: String

        init(_ name: String) { self.name = name }

        public var description: String { name }

        /// A recipient is none of age's X25519 recipients.
        public static let malformedRecipient = Code("malformedRecipient")
        /// There is a file already: nothing is overwritten.
        public static let fileExists = Code("fileExists")
        /// The file cannot be written.
        public static let notWritten = Code("notWritten")
    }

    public let code: Code
    /// One sentence, lower case, without a full stop.
    public let message: String
    /// What an operator can do about it.
    public let hint: String?

    init(_ code: Code, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }

    public var description: String { message }
}
