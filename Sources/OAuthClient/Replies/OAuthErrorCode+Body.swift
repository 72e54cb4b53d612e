package import HTTPTypes

extension OAuthErrorCode {
    /// The code in the body of an error reply, read like a token endpoint's. Nil if there is no readable one.
    package init?(inBody body: [UInt8], of response: HTTPResponse) {
        let body = ReplyBody(HTTPReply(response: response, body: body), format: .automatic)
        var rules = ReplyRules.rfc
        rules.errorMembers = ["error", "error.code", "errors[].code"]
        guard case .code(let code) = ReplyError(body, rules) else { return nil }
        self = code
    }
}
