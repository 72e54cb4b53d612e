/// The reason why an export to its destination is impossible. It contains no token and no user id.
public struct ExportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error, for programs. New codes may appear in later versions.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// Stable, for programs and logs.
        public let name: String

        init(_ name: String) { self.name = name }

        public var description: String { name }

        /// A recipient is not an age X25519 recipient.
        public static let malformedRecipient = Code("malformedRecipient")
        /// The file already exists: nothing is overwritten.
        public static let fileExists = Code("fileExists")
        /// The file cannot be written.
        public static let notWritten = Code("notWritten")
    }

    public let code: Code
    /// One sentence, lower case, without a full stop.
    public let message: String
    /// Advice for an operator.
    public let hint: String?

    init(_ code: Code, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }

    public var description: String { message }
}
