public import HTTPTypes
public import OAuthClient
import Synchronization

/// One answer of a ``ScriptedTransport``.
public struct ScriptedReply: Sendable {
    let answer: @Sendable (ScriptedTransport.SentRequest) async throws(HTTPTransportError) -> HTTPReply

    /// A reply computed by the closure.
    public init(
        _ answer: @escaping @Sendable (ScriptedTransport.SentRequest) async throws(HTTPTransportError) -> HTTPReply
    ) {
        self.answer = answer
    }

    /// A status, header fields and a body.
    public static func status(
        _ status: HTTPResponse.Status, headers: HTTPFields = [:], body: String = ""
    ) -> ScriptedReply {
        ScriptedReply { _ throws(HTTPTransportError) in
            HTTPReply(response: HTTPResponse(status: status, headerFields: headers), body: Array(body.utf8))
        }
    }

    /// A JSON body, in the form of a token endpoint.
    public static func json(
        _ body: String, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) -> ScriptedReply {
        var headers = headers
        headers[.contentType] = "application/json"
        return .status(status, headers: headers, body: body)
    }

    /// A successful reply (RFC 6749 §5.1). The strings are inserted into JSON unescaped.
    public static func tokens(
        accessToken: String, refreshToken: String? = nil, expiresIn: Int? = 3_600, tokenType: String = "Bearer",
        scope: String? = nil
    ) -> ScriptedReply {
        var members = [#""access_token":"\#(accessToken)""#, #""token_type":"\#(tokenType)""#]
        if let expiresIn { members.append(#""expires_in":\#(expiresIn)"#) }
        if let refreshToken { members.append(#""refresh_token":"\#(refreshToken)""#) }
        if let scope { members.append(#""scope":"\#(scope)""#) }
        return .json("{\(members.joined(separator: ","))}")
    }

    /// A provider that rotates: each request gets fresh tokens. For ``ScriptedTransport/fallback``; every token
    /// contains ``Sample/marker``.
    public static func freshTokens(expiresIn: Int? = 3_600, tokenType: String = "Bearer") -> ScriptedReply {
        let count = Counter()
        return ScriptedReply { request throws(HTTPTransportError) in
            let name = String(count.next())
            let tokens = ScriptedReply.tokens(
                accessToken: Sample.marker + "access-fresh-" + name,
                refreshToken: Sample.marker + "refresh-fresh-" + name, expiresIn: expiresIn, tokenType: tokenType)
            return try await tokens.answer(request)
        }
    }

    /// An OAuth error (RFC 6749 §5.2).
    public static func error(
        _ code: String, status: HTTPResponse.Status = .badRequest, headers: HTTPFields = [:]
    ) -> ScriptedReply {
        .json(#"{"error":"\#(code)"}"#, status: status, headers: headers)
    }

    /// An API that rejects the access token (RFC 6750 §3.1).
    ///
    /// - Parameter scheme: `DPoP` for a token that is bound to a key.
    public static func invalidToken(scheme: String = "Bearer") -> ScriptedReply {
        .status(.unauthorized, headers: [.wwwAuthenticate: #"\#(scheme) error="invalid_token""#])
    }

    /// An API that wants this nonce in the proof (RFC 9449 §9).
    public static func nonceChallenge(_ nonce: String) -> ScriptedReply {
        .status(
            .unauthorized, headers: [.wwwAuthenticate: #"DPoP error="use_dpop_nonce""#, .dpopNonce: nonce])
    }

    /// No reply.
    public static func failure(_ phase: HTTPTransportError.Phase, _ code: HTTPTransportError.Code) -> ScriptedReply {
        ScriptedReply { _ throws(HTTPTransportError) in throw HTTPTransportError(phase, code) }
    }

    /// The same reply, held until the gate is open.
    public func behind(_ gate: Gate) -> ScriptedReply {
        ScriptedReply { request throws(HTTPTransportError) in
            await gate.pass()
            return try await answer(request)
        }
    }
}

extension ScriptedReply {
    /// The reply to a request, for replies composed of others.
    public func reply(to request: ScriptedTransport.SentRequest) async throws(HTTPTransportError) -> HTTPReply {
        try await answer(request)
    }
}

private final class Counter: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
