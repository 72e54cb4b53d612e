/// The reason why an id token was rejected. It names claims, never their values.
package struct IDTokenError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Hashable, Sendable, CaseIterable {
        case missing
        case unreadable
        case missingClaim
        case issuer
        case audience
        case nonce
        case expired
        case issuedInFuture
        case authenticatedTooLongAgo
        case unsigned
        case unsupportedAlgorithm
        case unknownKey
        case signature

        var words: String {
            switch self {
            case .missing: "the id token is missing"
            case .unreadable: "the id token is encrypted, or is not a JWT"
            case .missingClaim: "the id token lacks a claim"
            case .issuer: "the id token comes from another issuer"
            case .audience: "the id token is for another client"
            case .nonce: "the id token answers another log-in"
            case .expired: "the id token has expired"
            case .issuedInFuture: "the id token was issued in the future"
            case .authenticatedTooLongAgo: "the user authenticated too long ago"
            case .unsigned: "the id token is not signed"
            case .unsupportedAlgorithm: "the id token is signed in a way that is not supported"
            case .unknownKey: "the id token is signed with a key that the provider does not publish"
            case .signature: "the id token's signature is wrong"
            }
        }
    }

    package let code: Code
    /// The claim that is missing or unusable.
    package let claim: String?

    init(_ code: Code, claim: String? = nil) {
        self.code = code
        self.claim = claim
    }

    package static let missing = IDTokenError(.missing)
    package static let unreadable = IDTokenError(.unreadable)

    package var description: String { claim.map { "\(code.words): \($0)" } ?? code.words }
}
