import HTTPTypes

/// A refusal in the shape of RFC 6749 §5.2.
struct OAuthError: Error, Sendable {
    let code: String
    /// One sentence for the developer of the client.
    let description: String
    var status: HTTPResponse.Status = .badRequest
    var headers = HTTPFields()
    /// Short and constant, for the request log.
    let reason: String

    init(_ code: String, _ description: String, reason: String, status: HTTPResponse.Status = .badRequest) {
        self.code = code
        self.description = description
        self.reason = reason
        self.status = status
    }

    static func invalidRequest(_ description: String, reason: String) -> OAuthError {
        OAuthError("invalid_request", description, reason: reason)
    }

    static func invalidGrant(_ description: String, reason: String) -> OAuthError {
        OAuthError("invalid_grant", description, reason: reason)
    }

    static func invalidScope(_ description: String, reason: String) -> OAuthError {
        OAuthError("invalid_scope", description, reason: reason)
    }

    /// RFC 8707 §2
    static func invalidTarget(_ description: String, reason: String) -> OAuthError {
        OAuthError("invalid_target", description, reason: reason)
    }

    static func invalidDPoPProof(_ description: String, reason: String) -> OAuthError {
        OAuthError("invalid_dpop_proof", description, reason: reason)
    }

    /// RFC 9449 §8; the reply carries the nonce to use.
    static func useDPoPNonce(reason: String) -> OAuthError {
        OAuthError("use_dpop_nonce", "a nonce of this server is required in the DPoP proof", reason: reason)
    }

    /// RFC 6749 §5.2: 401, and a challenge for the scheme that the client tried.
    static func invalidClient(_ description: String, reason: String) -> OAuthError {
        var error = OAuthError("invalid_client", description, reason: reason, status: .unauthorized)
        error.headers[.wwwAuthenticate] = "Basic realm=\"dev-authserver\", charset=\"UTF-8\""
        return error
    }
}
