/// The reason why a source cannot be read at all. A defect of a single row is a ``RejectReason``.
///
/// It contains no token, no user id and no other value of the source, only names of its files, tables and columns.
public struct ImportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error, for programs. New codes may appear in later versions.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// Stable, for programs and logs.
        public let name: String

        init(_ name: String) { self.name = name }

        public var description: String { name }

        /// The file cannot be opened or read.
        public static let unreadableFile = Code("unreadableFile")
        /// The file is damaged or truncated.
        public static let damagedSource = Code("damagedSource")
        /// Another program has locked the source.
        public static let busySource = Code("busySource")
        /// The file has an unsupported format.
        public static let unknownFormat = Code("unknownFormat")
        /// The file is readable, but contains no known store.
        public static let unknownStore = Code("unknownStore")
        /// The file contains several stores: name the intended one.
        public static let severalStores = Code("severalStores")
        /// The tables belong to an authorization server: they hold tokens that it issued to others.
        public static let serverStore = Code("serverStore")
        /// The tokens are encrypted, and the plan has no suitable secret.
        public static let secretNeeded = Code("secretNeeded")
        /// The secret does not decrypt the first encrypted value.
        public static let wrongSecret = Code("wrongSecret")
        /// The program that decrypts tokens could not be run, or failed.
        public static let programFailed = Code("programFailed")
        /// The plan does not fit the source.
        public static let unfitPlan = Code("unfitPlan")
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
