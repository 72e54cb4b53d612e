/// A checked authorization request (RFC 6749 §4.1.1).
struct AuthorizationRequest: Sendable {
    let client: RegisteredClient
    let redirectURI: String
    let state: String?
    let scope: [String]
    let challenge: String?
    /// The key that the code is bound to: `dpop_jkt`, or that of a pushed request's proof.
    var keyThumbprint: String?
    let resources: [String]
    let openIDNonce: String?
    let loginHint: String?
    /// The first of `acr_values`: any user can authenticate in any way.
    let contextClass: String?
    /// `authorization_details` (RFC 9396): any are granted as they are asked for.
    let details: String?
    let prompt: String?

    /// Everything but client and redirect URI: these faults are reported to the client by a redirect.
    init(
        _ form: FormParameters, client: RegisteredClient, redirectURI: String, knownScopes: [String],
        resources: [String]
    ) throws(OAuthError) {
        self.client = client
        self.redirectURI = redirectURI
        self.resources = resources
        state = form["state"]
        if form["request"] != nil {
            throw OAuthError("request_not_supported", "request objects are not served", reason: "request")
        }
        if form["request_uri"] != nil {
            throw OAuthError("request_uri_not_supported", "request objects are not served", reason: "request_uri")
        }
        guard try form.required("response_type") == "code" else {
            throw OAuthError("unsupported_response_type", "only response_type=code is served", reason: "response_type")
        }
        guard form["response_mode"] == nil || form["response_mode"] == "query" else {
            throw .invalidRequest("only response_mode=query is supported", reason: "response_mode")
        }
        challenge = try Self.challenge(form, client: client)
        keyThumbprint = form["dpop_jkt"]
        if let keyThumbprint, !PKCE.isDigest(keyThumbprint) {
            throw .invalidRequest("dpop_jkt is malformed", reason: "malformed dpop_jkt")
        }
        scope = try form["scope"].map { text throws(OAuthError) in try ScopeList.parse(text) } ?? ["read"]
        guard scope.allSatisfy(knownScopes.contains) else {
            throw .invalidScope("a scope is unknown", reason: "unknown scope")
        }
        openIDNonce = form["nonce"]
        loginHint = form["login_hint"]
        details = form["authorization_details"]
        if let details {
            guard case .array(let types)? = JSONValue.parse(details.utf8),
                types.allSatisfy({ if case .object(let detail) = $0 { detail["type"]?.string != nil } else { false } })
            else {
                throw OAuthError(
                    "invalid_authorization_details", "the details are no array of objects with types",
                    reason: "malformed details")
            }
        }
        contextClass = form["acr_values"]?.split(separator: " ").first.map(String.init)
        prompt = form["prompt"]
    }

    /// RFC 7636 §4.3 and RFC 9700 §2.1.1: S256 only, and public clients must use it.
    private static func challenge(
        _ form: FormParameters, client: RegisteredClient
    ) throws(OAuthError) -> String? {
        guard let challenge = form["code_challenge"] else {
            guard !client.isPublic else {
                throw .invalidRequest("code_challenge is missing", reason: "no challenge")
            }
            guard form["code_challenge_method"] == nil else {
                throw .invalidRequest("code_challenge_method without code_challenge", reason: "no challenge")
            }
            return nil
        }
        return try check(challenge, form)
    }

    /// RFC 8628 knows no challenge; a device that sends one is held to it.
    static func optionalChallenge(_ form: FormParameters) throws(OAuthError) -> String? {
        guard let challenge = form["code_challenge"] else { return nil }
        return try check(challenge, form)
    }

    private static func check(_ challenge: String, _ form: FormParameters) throws(OAuthError) -> String {
        // An absent method would mean `plain`.
        guard form["code_challenge_method"] == "S256" else {
            throw .invalidRequest("code_challenge_method must be S256", reason: "challenge method")
        }
        guard PKCE.isDigest(challenge) else {
            throw .invalidRequest("code_challenge is malformed", reason: "malformed challenge")
        }
        return challenge
    }
}

/// Comparison of redirect URIs: exact, except the port of a loopback address (RFC 8252 §7.3).
enum RedirectURI {
    static func isRegistered(_ uri: String, of client: RegisteredClient) -> Bool {
        client.redirectURIs.contains { $0 == uri || isSameLoopback($0, uri) }
    }

    private static func isSameLoopback(_ registered: String, _ presented: String) -> Bool {
        for prefix in ["http://127.0.0.1", "http://[::1]"] {
            guard registered.hasPrefix(prefix), presented.hasPrefix(prefix) else { continue }
            if let left = pathAfterPort(registered.dropFirst(prefix.count)),
                let right = pathAfterPort(presented.dropFirst(prefix.count)), left == right
            {
                return true
            }
        }
        return false
    }

    private static func pathAfterPort(_ rest: Substring) -> Substring? {
        guard rest.first == ":" else { return rest.isEmpty || rest.first == "/" ? rest : nil }
        let digits = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
        guard let port = Int(digits), (1...65535).contains(port) else { return nil }
        let path = rest.dropFirst(1 + digits.count)
        return path.isEmpty || path.first == "/" ? path : nil
    }

    /// RFC 6749 §4.1.2: parameters are added to whatever query is there.
    static func adding(_ parameters: [(String, String?)], to uri: String) -> String {
        let query = parameters.compactMap { name, value in
            value.map { FormParameters.encode(name) + "=" + FormParameters.encode($0) }
        }
        return uri + (uri.contains("?") ? "&" : "?") + query.joined(separator: "&")
    }

    /// Scheme and authority, as a source expression of a content security policy.
    static func origin(of uri: String) -> String {
        guard let separator = uri.firstRange(of: "://") else { return String(uri.prefix { $0 != ":" }) + ":" }
        let authority = uri[separator.upperBound...].prefix { !"/?#".contains($0) }
        return String(uri[..<separator.upperBound]) + authority
    }
}
