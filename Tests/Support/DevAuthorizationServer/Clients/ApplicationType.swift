/// `application_type` (OpenID Connect Dynamic Client Registration §2): where the redirect URIs of a client may lead.
enum ApplicationType: String, CaseIterable {
    case web, native

    func accepts(redirectURI: String) -> Bool {
        let scheme = redirectURI.prefix { $0 != ":" }.lowercased()
        switch self {
        case .web: return scheme == "https" && !Self.isLoopback(redirectURI)
        case .native:
            if scheme == "http" { return Self.isLoopback(redirectURI) }
            // Schemes that browsers handle themselves lead to no program of the user's (RFC 8252 §7.1).
            return redirectURI.contains(":") && !["", "https", "javascript", "data", "file"].contains(scheme)
        }
    }

    private static func isLoopback(_ uri: String) -> Bool {
        guard let separator = uri.firstRange(of: "://") else { return false }
        let authority = uri[separator.upperBound...].prefix { !"/?#".contains($0) }.lowercased()
        return ["127.0.0.1", "[::1]", "localhost"].contains { host in
            authority == host || (authority.hasPrefix(host + ":") && !authority.contains("@"))
        }
    }
}
