import FoundationEssentials
import HTTPTypes

/// Client authentication (RFC 6749 §2.3): each client by its registered method and no other.
struct ClientAuthenticator: Sendable {
    let registry: ClientRegistry
    let assertions: AssertionChecker
    /// Whom an assertion may name at every endpoint: this server, or its token endpoint.
    private let audiences: [String]
    /// Whether only keys and certificates count, and assertions are for the issuer alone (FAPI 2.0 §5.3.2.1).
    private let isStrict: Bool
    private let now: @Sendable () -> Date

    init(
        clients: [RegisteredClient], assertions: AssertionChecker, audiences: [String], isStrict: Bool = false,
        now: @escaping @Sendable () -> Date
    ) {
        registry = ClientRegistry(clients)
        self.assertions = assertions
        self.audiences = audiences
        self.isStrict = isStrict
        self.now = now
    }

    func client(_ id: String) -> RegisteredClient? { registry[id] }

    func authenticate(_ request: IncomingRequest, form: FormParameters) throws(OAuthError) -> RegisteredClient {
        let client = try identify(request, form: form)
        guard isStrict else { return client }
        switch client.authentication {
        case .privateKeyJWT, .certificate, .selfSignedCertificate: return client
        case .none, .basic, .post: throw Self.refused
        }
    }

    private func identify(_ request: IncomingRequest, form: FormParameters) throws(OAuthError) -> RegisteredClient {
        let fields = request.headers[values: .authorization]
        guard let field = fields.first else { return try authenticate(form: form, request) }
        guard fields.count == 1, form["client_secret"] == nil, form["client_assertion"] == nil else {
            throw .invalidRequest("the client authenticates in more than one way", reason: "two authentications")
        }
        guard let (id, secret) = Self.basicCredentials(field) else {
            throw .invalidClient("the Authorization header is not well-formed Basic", reason: "malformed Basic")
        }
        if let named = form["client_id"], named != id {
            throw .invalidRequest("client_id differs from the authenticated client", reason: "two clients")
        }
        guard let client = registry[id], case .basic(let expected) = client.authentication,
            constantTimeEquals(secret, expected)
        else { throw Self.refused }
        return client
    }

    private func authenticate(
        form: FormParameters, _ request: IncomingRequest
    ) throws(OAuthError) -> RegisteredClient {
        if form["client_assertion"] != nil || form["client_assertion_type"] != nil {
            return try authenticateByAssertion(form, target: request.targetURI)
        }
        guard let id = form["client_id"] else {
            throw .invalidClient("the client did not identify itself", reason: "no client")
        }
        guard let client = registry[id] else { throw Self.refused }
        switch (client.authentication, form["client_secret"]) {
        case (.none, nil): return client
        case (.post(let expected), .some(let secret)) where constantTimeEquals(secret, expected): return client
        case (.certificate(let subject), nil):
            guard let shown = request.certificate, subject.accepts(shown, at: now()) else { throw Self.refused }
            return client
        case (.selfSignedCertificate(let registered), nil):
            guard let shown = request.certificate, registered.contains(where: { $0.thumbprint == shown.thumbprint })
            else { throw Self.refused }
            return client
        default: throw Self.refused
        }
    }

    /// RFC 7521 §4.2 and RFC 7523 §3. RFC 9126 §2 lets the endpoint itself be the audience, too.
    private func authenticateByAssertion(
        _ form: FormParameters, target: String
    ) throws(OAuthError) -> RegisteredClient {
        guard form["client_secret"] == nil else {
            throw .invalidRequest("the client authenticates in more than one way", reason: "two authentications")
        }
        guard form["client_assertion_type"] == AssertionChecker.type,
            let assertion = form["client_assertion"].flatMap({ CompactJWS($0) }),
            let id = assertion.claims["sub"]?.string
        else { throw .invalidClient("the client assertion is malformed", reason: "malformed assertion") }
        if let named = form["client_id"], named != id {
            throw .invalidRequest("client_id differs from the authenticated client", reason: "two clients")
        }
        guard let client = registry[id], case .privateKeyJWT(let key) = client.authentication else {
            throw Self.refused
        }
        try assertions.check(assertion, of: id, key: key, audiences: isStrict ? audiences : audiences + [target])
        return client
    }

    private static let refused = OAuthError.invalidClient(
        "the client is unknown or its authentication is wrong", reason: "wrong client authentication")

    /// Identifier and secret are form-encoded before they are joined (RFC 6749 §2.3.1).
    fileprivate static func basicCredentials(_ field: String) -> (id: String, secret: String)? {
        let parts = field.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "basic",
            let data = Data(base64Encoded: String(parts[1])), let text = String(validating: data, as: UTF8.self),
            let colon = text.firstIndex(of: ":"),
            let id = FormParameters.decode(text[..<colon]),
            let secret = FormParameters.decode(text[text.index(after: colon)...])
        else { return nil }
        return (id, secret)
    }
}

extension ClientAuthenticator {
    /// The client that a Basic header names, authenticated or not; for the log.
    func claimedBasicClient(_ request: IncomingRequest) -> String? {
        request.headers[.authorization].flatMap(Self.basicCredentials)?.id
    }
}
