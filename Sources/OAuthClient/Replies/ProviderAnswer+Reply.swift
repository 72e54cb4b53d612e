import FoundationEssentials
package import HTTPTypes

extension ProviderAnswer {
    /// The status of any provider reply, and its error if it names one, whatever the request was.
    ///
    /// - Parameters:
    ///   - request: The request that was sent. Secrets in it or in `body` are removed from the answer.
    package init(_ reply: HTTPReply, to request: HTTPRequest, body: [UInt8]) {
        let content = ReplyBody(reply, format: .automatic)
        self.init(
            status: reply.response.status.code, error: content["error"].text.flatMap { OAuthErrorCode($0) },
            message: content["error_description"].text.map { ServerMessage($0) },
            hiding: Self.secrets(of: request, body))
    }

    /// Parameters that are not secret. All others count as secrets.
    private static let publicParameters: Set<String> = [
        "audience", "client_assertion_type", "client_id", "code_challenge_method", "grant_type", "redirect_uri",
        "requested_token_type", "resource", "response_type", "scope", "subject_token_type", "token_type_hint",
    ]

    private static func secrets(of request: HTTPRequest, _ body: [UInt8]) -> [String] {
        let parameters = FormCodec.decode(body) ?? []
        var secrets = parameters.filter { !publicParameters.contains($0.name) }.map(\.value)
        for value in request.headerFields[values: .authorization] {
            let parts = value.split(separator: " ", maxSplits: 1)
            guard parts.count == 2 else { continue }
            secrets.append(String(parts[1]))
            if parts[0].lowercased() == "basic" { secrets += passwords(parts[1]) }
        }
        return secrets
    }

    /// The password as it was sent, and as its owner knows it (RFC 6749 §2.3.1).
    private static func passwords(_ credentials: Substring) -> [String] {
        guard let bytes = Data(base64Encoded: String(credentials)),
            let pair = String(validating: bytes, as: UTF8.self),
            let colon = pair.firstIndex(of: ":")
        else { return [] }
        let password = String(pair[pair.index(after: colon)...])
        return [password, FormCodec.decode("p=\(password)".utf8)?.first?.value].compactMap(\.self)
    }
}
