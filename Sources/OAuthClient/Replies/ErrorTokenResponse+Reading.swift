import HTTPTypes

extension ErrorTokenResponse {
    /// The OAuth error of a reply; nil if it has no readable one.
    init?(_ reply: EndpointReply, _ rules: ReplyRules) {
        guard case .reply(let reply) = reply else { return nil }
        let body = ReplyBody(reply, format: rules.format)
        guard case .code(let code) = ReplyError(body, rules) else { return nil }
        self.init(
            error: code, errorDescription: body["error_description"].text.map(ServerMessage.init),
            errorURI: body["error_uri"].text.map(ServerMessage.init), status: reply.response.status.code)
    }
}
