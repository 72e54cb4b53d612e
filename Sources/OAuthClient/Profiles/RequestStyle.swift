/// The request format of one provider. Data, like ``ReplyRules``.
package struct RequestStyle: Hashable, Sendable {
    package enum Body: String, Hashable, Sendable, CaseIterable {
        case form, json
    }

    package var body: Body
    package var scopeSeparator: String
    /// Whether a refresh repeats the granted scope.
    package var sendsScopeOnRefresh: Bool
    package var codeParameters: [FormParameter]
    package var refreshParameters: [FormParameter]
    /// No refresh token or code is sent with a proof before the server's nonce is known.
    package var requiresNonce: Bool

    package init(
        body: Body = .form, scopeSeparator: String = " ", sendsScopeOnRefresh: Bool = false,
        codeParameters: [FormParameter] = [], refreshParameters: [FormParameter] = [], requiresNonce: Bool = false
    ) {
        self.body = body
        self.scopeSeparator = scopeSeparator
        self.sendsScopeOnRefresh = sendsScopeOnRefresh
        self.codeParameters = codeParameters
        self.refreshParameters = refreshParameters
        self.requiresNonce = requiresNonce
    }

    package static let rfc = RequestStyle()
}
