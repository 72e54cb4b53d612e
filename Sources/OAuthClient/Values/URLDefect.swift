/// The rule that an address breaks.
struct URLDefect: Error {
    /// The rest of a sentence about the address.
    let words: String

    private init(_ words: String) { self.words = words }

    static let tooLong = URLDefect("it is longer than 8192 characters")
    static let forbiddenCharacter = URLDefect("it has a blank, a control character, or a letter beyond ASCII")
    static let scheme = URLDefect("it does not begin with https://")
    static let userInformation = URLDefect("it has a user name or a password")
    static let noHost = URLDefect("it names no host")
    static let host = URLDefect("its host has a character that no host has")
    static let port = URLDefect("its port is not a number between 1 and 65535")
    static let encoding = URLDefect("its path or its query has a character that must be percent-encoded")
    static let path = URLDefect("it has a path")
    static let query = URLDefect("it has a query")
    static let fragment = URLDefect("it has a fragment")
}

extension OAuthValueError {
    init(breaking rule: URLDefect, _ subject: String) {
        self.init(.malformed(rule.words), subject)
    }

    /// Whether the value is an address with a user name or a password, which others may have seen.
    package var isOfUserInformation: Bool {
        code.words == Code.malformed(URLDefect.userInformation.words).words
    }
}

extension RawURL {
    /// As `init(_:allowsVariables:)`, for a value of this kind.
    init(
        _ text: String, of subject: String, allowsVariables: Bool = false
    ) throws(OAuthValueError) {
        do throws(URLDefect) {
            try self.init(text, allowsVariables: allowsVariables)
            guard !hasFragment else { throw .fragment }
        } catch {
            throw OAuthValueError(breaking: error, subject)
        }
    }
}
