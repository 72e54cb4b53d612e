public import FoundationEssentials
public import HTTPTypes
public import OAuthClient

/// A request for an API that carries a token, and interprets its reply. ``UserManager/authorize(_:for:_:baseURL:)`` makes it.
///
/// It may be sent once: a proof is made for just this method, URL and token.
public struct AuthorizedRequest: Sendable {
    /// The request to send, as it was given except for header fields: `Authorization` is set, and for a token that is
    /// bound to a key also `DPoP`; earlier values of the two are replaced.
    public let request: HTTPRequest
    /// The login's token that it carries; nil: one of the client itself.
    public let token: VaultToken?

    /// Where it is sent.
    let target: EndpointURL
    let presented: PresentedToken
    let users: UserManager

    init(
        _ request: HTTPRequest, to target: EndpointURL, _ presented: PresentedToken, of token: VaultToken? = nil,
        _ users: UserManager
    ) {
        self.request = request
        self.target = target
        self.presented = presented
        self.token = token
        self.users = users
    }

    /// The client certificate that it must be sent with, because the token is bound to it (RFC 8705 §3), according to
    /// the provider's current registration in the vault; nil: the token is bound to none.
    ///
    /// - Throws: ``VaultError/Code/conflict`` if the provider cannot be read: then the token must not be sent, because
    ///   it may be bound.
    public func certificate() async throws -> ClientCertificate? {
        try await users.certificate(for: presented)
    }

    /// Whether ``outcome(of:startedAt:body:)`` needs the body of this reply: some providers report an expired token in
    /// a body with status 200. Its length may not be known yet: if it is longer than 64 KiB, pass nil.
    public func needsBody(of response: HTTPResponse) async -> Bool {
        await users.needsBody(of: response, presented)
    }

    /// Returns the meaning of a resource server's reply for the token, and keeps the reply's nonce and clock.
    ///
    /// A token is refused by `WWW-Authenticate` with `invalid_token` (RFC 6750 §3.1), and by the conditions in the
    /// section `resource` of the provider's profile, such as a bare 401.
    ///
    /// Call it for every reply, successes included: any reply may bring the nonce for the next request (RFC 9449 §8.2).
    ///
    /// - Parameters:
    ///   - response: The head of the reply.
    ///   - startedAt: When the request was sent. Without it nothing is learned about the server's clock.
    ///   - body: The body of a reply for which ``needsBody(of:)`` is true, if it is no longer than 64 KiB.
    @discardableResult
    public func outcome(
        of response: HTTPResponse, startedAt: Date? = nil, body: [UInt8]? = nil
    ) async -> ResourceReply {
        await users.read(response, to: request, at: target, presented, startedAt, body) {
            if let token { users.context.prove(token) }
        }
    }

    /// The same request with the same token, and a new proof.
    public func again() async throws -> AuthorizedRequest {
        try await users.authorized(request, to: target, presented, of: token)
    }
}

extension AuthorizedRequest: PublicRendering {
    /// Not the header fields, which hold the token.
    var shown: ShownFields {
        let target = "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")"
        return ["request": "\(request.method) \(ShownFields.withoutQuery(target))", "token": token]
    }
}
