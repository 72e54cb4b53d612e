public import Hummingbird
import Logging
import OAuthClient
public import TokenVault

/// Answers errors of the vault, from any route below it, with the status that fits.
///
/// ```swift
/// router.add(middleware: VaultErrorMiddleware())
/// router.get("/token") { request, context in
///     try await users.accessToken(userId: "alice").scope?.description  // a dead login becomes a 409
/// }
/// ```
///
/// | status | |
/// |---|---|
/// | 409 with `needsUser` | the user must connect the account. Not 401: their session with *your* service is good |
/// | 409 | two changes collide, or several accounts fit: `logins` has their ids |
/// | 400, 403, 404, 410 | an invalid argument; a refusal; no such account; a log-in that is over |
/// | 503 | later: after `Retry-After`, or, without it, when an operator has helped |
/// | 502, 500 | the provider or an API is unusable; anything else |
///
/// The body is JSON with the code: `{"error":"refreshFailed","needsUser":true}`. Message and hint are logged, not shown, if an
/// operator must look at the error. An `HTTPTransportError` of `AuthorizingClient` becomes 502. Other errors pass.
public struct VaultErrorMiddleware<Context: RequestContext>: RouterMiddleware {
    private let answer: @Sendable (VaultError, Request, Context) async throws -> Response

    /// - Parameter answer: The answer to an error, which may begin with `Response(error)`.
    public init(
        answer: @escaping @Sendable (VaultError, Request, Context) async throws -> Response = { error, _, _ in
            Response(error)
        }
    ) {
        self.answer = answer
    }

    public func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as VaultError {
            if ErrorAnswer(error.code).isForOperators {
                let words = error.message + (error.hint.map { "; " + $0 } ?? "")
                context.logger.error(
                    "the vault cannot answer", metadata: ["error": "\(error.code)", "reason": "\(words)"])
            }
            return try await answer(error, request, context)
        } catch is HTTPTransportError {
            return .json(.badGateway, #"{"error":"apiUnreachable"}"#)
        }
    }
}

extension Response {
    /// The answer to an error of the vault: see ``VaultErrorMiddleware``.
    public init(_ error: VaultError) {
        let answer = ErrorAnswer(error.code)
        let logins = error.logins.map { #""\#($0)""# }.joined(separator: ",")
        self = .json(
            HTTPResponse.Status(code: answer.status),
            #"{"error":"\#(error.code)"\#(answer.needsUser ? #","needsUser":true"# : "")"#
                + (logins.isEmpty ? "}" : #","logins":[\#(logins)]}"#))
        if let delay = (error.retryAfter ?? (answer.passes ? .seconds(5) : nil))?.components {
            // Rounded up, so that no client comes back too early.
            headers[.retryAfter] = String(max(1, delay.seconds + (delay.attoseconds > 0 ? 1 : 0)))
        }
    }
}
