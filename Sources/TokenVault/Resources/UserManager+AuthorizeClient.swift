public import FoundationEssentials
public import HTTPTypes
public import OAuthClient

extension UserManager {
    /// Adds a token of the client itself to a request for an API. See ``authorize(_:for:_:)``.
    public func authorize(_ request: inout HTTPRequest, withClientToken token: ClientToken) async throws {
        try await authorize(&request, with: PresentedToken(token))
    }

    /// What a request with this token has to be sent with. See ``certificate(for:)``.
    public func certificate(forClientToken token: ClientToken) async throws -> ClientCertificate? {
        try await certificate(for: PresentedToken(token))
    }

    /// Says what a resource server's reply means for a token of the client itself. See
    /// ``read(_:to:authorizedWith:startedAt:body:)``.
    ///
    /// - Parameters:
    ///   - response: The head of the reply.
    ///   - request: As it was sent, with the fields that were added.
    ///   - token: The token that the request was authorized with.
    ///   - startedAt: When it was sent. Without it nothing is learned about the server's clock.
    ///   - body: Of replies for which ``needsBody(of:authorizedWithClientToken:)`` says so, if it is no longer than 64 KiB.
    @discardableResult
    public func read(
        _ response: HTTPResponse, to request: HTTPRequest, authorizedWithClientToken token: ClientToken,
        startedAt: Date? = nil, body: [UInt8]? = nil
    ) async -> ResourceReply {
        await read(response, to: request, PresentedToken(token), startedAt, body) {}
    }

    /// Whether ``read(_:to:authorizedWithClientToken:startedAt:body:)`` needs the body of this reply. See
    /// ``needsBody(of:authorizedWith:)``.
    public func needsBody(of response: HTTPResponse, authorizedWithClientToken token: ClientToken) async -> Bool {
        await needsBody(of: response, PresentedToken(token))
    }
}
