/// The subject of an id token (OpenID Connect Core §2). Not printed: a subject may be an e-mail address.
package struct IDTokenIdentity: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    package let subject: String
    /// Nil in an expected identity accepts any issuer.
    package let issuer: String?

    package init(subject: String, issuer: String?) {
        self.subject = subject
        self.issuer = issuer
    }

    /// Reads the claims of an id token that came directly from the token endpoint over TLS, so that its signature need
    /// not be checked (OpenID Connect Core §3.1.3.7). Nil if it is encrypted or not a JWT.
    package init?(_ token: IDToken) {
        let parts = token.reveal().split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64URL.decode(parts[1]),
            let claims = try? JSONObject(document: payload), case .string(let subject)? = claims["sub"],
            case .string(let issuer)? = claims["iss"]
        else { return nil }
        self.init(subject: subject, issuer: issuer)
    }

    /// Whether a login of this identity may accept tokens of `other` (OpenID Connect Core §12.2).
    func accepts(_ other: IDTokenIdentity) -> Bool {
        subject == other.subject && (issuer == nil || issuer == other.issuer)
    }

    package var description: String { "<identity>" }
    package var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}
