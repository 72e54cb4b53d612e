package import HTTPTypes

extension OAuthErrorCode {
    /// The code in the body of a reply that says no, read as a token endpoint's is. Nil if there is none that can be read.
    package init?(inBody body: [UInt8], of response: HTTPResponse) {
        let body = ReplyBody(HTTPReply(response: response, body: body), format: .automatic)
        var rules = ReplyRules.rfc
        rules.errorMembers = ["error", "error.code", "errors[].code"]
        guard case .code(let code) = ReplyError(body, rules) else { return nil }
        self = code
    }
}
