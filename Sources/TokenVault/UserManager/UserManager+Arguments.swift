extension UserManager {
    /// Longer user ids are refused: they are read with every token.
    static let longestUserID = 1_024

    /// Any text is a user id, line breaks and escape codes included, if it is neither empty nor too long.
    static func checked(_ userID: String) throws -> String {
        let length = userID.utf8.count
        guard length > 0 else { throw VaultError(.invalidArgument, "the user id is empty") }
        guard length <= longestUserID else {
            throw VaultError(.invalidArgument, "the user id is longer than \(longestUserID) bytes")
        }
        return userID
    }

    /// Longer ones are no addresses that browsers and servers deal with.
    static let longestRedirectURI = 2_048

    static func checkedRedirectURI(_ text: String) throws -> String {
        guard text.utf8.count <= longestRedirectURI else {
            throw VaultError(.invalidArgument, "the redirect URI is longer than \(longestRedirectURI) bytes")
        }
        return text
    }

    static func checkedLabel(_ label: String?) throws -> String? {
        guard let label else { return nil }
        guard label.utf8.count <= longestUserID else {
            throw VaultError(.invalidArgument, "the label is longer than \(longestUserID) bytes")
        }
        return label
    }
}
