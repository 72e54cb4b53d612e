/// A reply whose access token cannot be used, although it spent the old refresh token.
package struct PartialTokens: Equatable, Sendable {
    /// The next link of the chain: store it as generation g+1, without an access token.
    package var refreshToken: RefreshToken
    package var refreshExpiresIn: Duration?
    package var cause: PartialCause

    package init(refreshToken: RefreshToken, refreshExpiresIn: Duration? = nil, cause: PartialCause) {
        self.refreshToken = refreshToken
        self.refreshExpiresIn = refreshExpiresIn
        self.cause = cause
    }
}

package enum PartialCause: String, Hashable, Sendable, CaseIterable {
    /// Row 19a: no access token, or one that cannot be sent.
    case unusableAccessToken
    /// Row 18 with a refresh token: the reply reports both an error and success.
    case contradictory
    /// Row 20: the token type is not what the login requires.
    case wrongTokenType
    /// The id token names another subject or issuer.
    case identityChanged

    /// Whether the new refresh token must be redeemed immediately, once. A wrong token type would only recur.
    package var redeemsAtOnce: Bool { self != .wrongTokenType }
}
