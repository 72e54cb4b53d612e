/// The reason why a row is not a login. Names are stable for programs; none of them quotes the row.
public struct RejectReason: Hashable, Sendable, CustomStringConvertible {
    /// Stable, for programs and reports.
    public let name: String
    /// One sentence, lower case, without a full stop.
    public let message: String

    init(_ name: String, _ message: String) {
        self.name = name
        self.message = message
    }

    public var description: String { name }
}

/// Defects of the record.
extension RejectReason {
    /// The record is longer than ``ImportLimits/recordBytes``.
    public static let tooLong = RejectReason("tooLong", "the record is too long")
    /// The record is not UTF-8.
    public static let notUTF8 = RejectReason("notUTF8", "the record is not UTF-8")
    /// The line is not JSON.
    public static let notJSON = RejectReason("notJSON", "the line is not JSON")
    /// The line is JSON, but not an object.
    public static let notAnObject = RejectReason("notAnObject", "the line is not a JSON object")
    /// A member is repeated with different values.
    public static let ambiguousMember = RejectReason(
        "ambiguousMember", "a member is given twice with different values")
    /// The record has more or fewer values than there are columns.
    public static let wrongColumnCount = RejectReason(
        "wrongColumnCount", "the record does not have one value for each column")
    /// A quote in CSV is misplaced or not closed.
    public static let malformedQuoting = RejectReason("malformedQuoting", "a quote is not where CSV allows it")
    /// A value of a dump is an expression, or malformed.
    public static let unsupportedLiteral = RejectReason("unsupportedLiteral", "a value is not a plain literal")
    /// A value has a type that its column never has.
    public static let malformedValue = RejectReason("malformedValue", "a value has the wrong type")
    /// A member is unknown, and the plan is strict.
    public static let unknownMember = RejectReason("unknownMember", "a member is not known")
}

/// Defects of the login.
extension RejectReason {
    /// The row has neither an access token nor a refresh token.
    public static let noToken = RejectReason("noToken", "there is no token")
    /// The access token has invalid characters (RFC 6749 Appendix A), or is too long.
    public static let malformedAccessToken = RejectReason("malformedAccessToken", "the access token is malformed")
    /// The refresh token has invalid characters (RFC 6749 Appendix A), or is too long.
    public static let malformedRefreshToken = RejectReason("malformedRefreshToken", "the refresh token is malformed")
    /// A token begins with the name of a scheme (RFC 6750 §2.1), as in a header field.
    public static let tokenWithScheme = RejectReason(
        "tokenWithScheme", "a token begins with Bearer, DPoP or Authorization:, which belongs to a header field")
    /// One of the two was read from the other's column: a provider gives two different tokens.
    public static let sameToken = RejectReason(
        "sameToken", "the access token and the refresh token are the same text")
    /// The token is a placeholder that a program stored for a missing value, such as `None` or `undefined`.
    public static let placeholderToken = RejectReason("placeholderToken", "the token is a placeholder")
    /// The row names no user.
    public static let noUser = RejectReason("noUser", "the row names no user")
    /// The user id is too long for a vault, or begins with U+001D, as the names of tenants do.
    public static let malformedUser = RejectReason("malformedUser", "the user id is not usable")
    /// The row's user is not in the source's table of users.
    public static let ownerMissing = RejectReason("ownerMissing", "the row's user does not exist in the source")
    /// The row's account is not in the source.
    public static let accountMissing = RejectReason("accountMissing", "the row's account does not exist in the source")
    /// The row names no provider.
    public static let noProvider = RejectReason("noProvider", "the row names no provider")
    /// The plan has no provider for the source's name, and requires one.
    public static let unmappedProvider = RejectReason("unmappedProvider", "the plan names no provider for it")
    /// The row belongs to another client registration: its refresh token does not work for ours.
    public static let otherClient = RejectReason("otherClient", "the row belongs to another client id")
    /// The client id is invalid.
    public static let malformedClient = RejectReason("malformedClient", "the client id or secret is malformed")
    /// The row is a password, a passkey, a mail address, or uses OAuth 1.
    public static let notOAuth2 = RejectReason("notOAuth2", "the row is not an OAuth 2 login")
    /// The tokens belong to the client itself, without a user.
    public static let clientCredentials = RejectReason("clientCredentials", "the tokens belong to no user")
    /// The source has marked the row as deleted.
    public static let deleted = RejectReason("deleted", "the source has deleted the row")
    /// The source has marked the tokens as revoked.
    public static let revoked = RejectReason("revoked", "the source has revoked the tokens")
    /// The stored value is an error response.
    public static let errorAnswer = RejectReason("errorAnswer", "the row contains an error response")
    /// The token is bound to a key that is not in the row.
    public static let keyMissing = RejectReason("keyMissing", "the token is bound to a key that is missing")
    /// The DPoP key is not a private key on P-256.
    public static let malformedKey = RejectReason("malformedKey", "the DPoP key is malformed")
    /// The secret does not decrypt this value, although it decrypted others.
    public static let notDecryptable = RejectReason("notDecryptable", "the secret does not decrypt the row")
    /// The vault has no provider of that name.
    public static let unknownProvider = RejectReason("unknownProvider", "the vault has no such provider")
    /// A row of another user or account has the same refresh token.
    public static let duplicateChain = RejectReason(
        "duplicateChain", "a row of another user or account has the same refresh token")
    /// The source has a newer row for the same account.
    public static let superseded = RejectReason("superseded", "the source has a newer row for the account")
}
