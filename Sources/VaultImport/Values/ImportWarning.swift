/// An oddity of a login that is nevertheless usable.
public struct ImportWarning: Hashable, Sendable, CustomStringConvertible {
    /// Stable, for programs and reports.
    public let name: String
    /// One sentence, lower case, without a full stop.
    public let message: String

    init(_ name: String, _ message: String) {
        self.name = name
        self.message = message
    }

    public var description: String { name }

    /// The source stores tokens only at the first sign-in: with rotation, the refresh token is probably spent.
    public static let mayBeStale = ImportWarning("sourceMayBeStale", "the source may hold the first token only")
    /// The row names another provider than the plan.
    public static let providerOfRow = ImportWarning(
        "providerOfRow", "the row names another provider than the one given for rows that name none")
    /// A time had no zone; the plan's was used.
    public static let zoneAssumed = ImportWarning("zoneAssumed", "a time has no zone")
    /// A token begins or ends with a space, or is in quotation marks: probably not as the provider gave it.
    public static let tokenWithOddEnds = ImportWarning(
        "tokenWithOddEnds", "a token begins or ends with a blank, or is in quotation marks")
    /// The expiry is not a valid time. It counts as unknown.
    public static let expiryUnreadable = ImportWarning(
        "expiryUnreadable", "the expiry is not readable, and taken as unknown")
    /// A lifetime without its starting time. The expiry counts as unknown.
    public static let lifetimeWithoutStart = ImportWarning(
        "lifetimeWithoutStart", "the expiry is relative to an unknown moment")
    /// The source invented the expiry. It counts as unknown.
    public static let expiryInvented = ImportWarning("expiryInvented", "the source invented the expiry")
    /// The refresh token was dropped because it has expired.
    public static let refreshTokenExpired = ImportWarning("refreshTokenExpired", "the refresh token has expired")
    /// A placeholder for a missing value, such as `None`, was dropped.
    public static let placeholderDropped = ImportWarning("placeholderDropped", "a placeholder was dropped")
    /// The scope is invalid (RFC 6749 §3.3), and was dropped.
    public static let scopeDropped = ImportWarning("scopeDropped", "the scope is not readable")
    /// The id token was dropped: it is invalid, or there is no refresh token, without which a vault does not keep it.
    public static let idTokenDropped = ImportWarning(
        "idTokenDropped", "the id token is not kept: it is not readable, or there is no refresh token")
    /// A scope with commas was split at them.
    public static let scopeSeparatorAssumed = ImportWarning(
        "scopeSeparatorAssumed", "the scope was split at its commas")
    /// The id token names another subject than the row.
    public static let subjectDiffers = ImportWarning("subjectDiffers", "the id token names another subject")
    /// The token type is neither Bearer nor DPoP.
    public static let unknownTokenType = ImportWarning("unknownTokenType", "the token type is not known")
    /// The DPoP key is gone, but the refresh token of a confidential client is not bound to it (RFC 9449 §5).
    public static let keyLost = ImportWarning("keyLost", "the DPoP key is missing; renewals need a new one")
    /// The refresh token serves a family of clients.
    public static let familyToken = ImportWarning("familyToken", "the refresh token serves several clients")
    /// The source could no longer renew the login when it was read.
    public static let refreshExhausted = ImportWarning("refreshExhausted", "the source has given up renewing it")
    /// A token looks encrypted, and the plan has no secret.
    public static let maybeEncrypted = ImportWarning("maybeEncrypted", "a token may be encrypted")
    /// An access token could not be used and was dropped; there is a refresh token.
    public static let accessTokenDropped = ImportWarning("accessTokenDropped", "the access token is not usable")
}
