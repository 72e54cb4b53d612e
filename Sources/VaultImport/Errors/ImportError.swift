/// Why a source cannot be read at all. What is wrong with a single row is a ``RejectReason``.
///
/// It holds no token, no user id and no other value of the source; names of its files, tables and columns it does.
public struct ImportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What a program can act on. New codes may appear in later versions.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// Stable, for programs and logs.
        public let name: String

        init(_ name: String) { self.name = name }

        public var description: String { name }

        /// The file cannot be opened or read.
        public static let unreadableFile = Code("unreadableFile")
        /// The file is damaged, or ends in the middle.
        public static let damagedSource = Code("damagedSource")
        /// Another program has the source locked.
        public static let busySource = Code("busySource")
        /// The file is in no format that is read here.
        public static let unknownFormat = Code("unknownFormat")
        /// The file is readable, and no known store is in it.
        public static let unknownStore = Code("unknownStore")
        /// Several stores are in the file: name the one that is meant.
        public static let severalStores = Code("severalStores")
        /// The tables belong to an authorization server: they hold what it has issued to others.
        public static let serverStore = Code("serverStore")
        /// The tokens are encrypted, and the plan has no secret that fits them.
        public static let secretNeeded = Code("secretNeeded")
        /// The secret does not open the first encrypted value.
        public static let wrongSecret = Code("wrongSecret")
        /// The program that opens tokens could not be run, or did not do what it must.
        public static let programFailed = Code("programFailed")
        /// The plan does not fit the source.
        public static let unfitPlan = Code("unfitPlan")
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
