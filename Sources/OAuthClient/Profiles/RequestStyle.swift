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
    /// The provider's own names for parameters of RFC 6749.
    package var names: [String: String]
    package var refreshGrantType: String
    package var refreshMethod: ProviderProfile.RefreshPolicy.Method
    /// Whether a renewal authenticates the client.
    package var refreshSendsClient: Bool
    package var firstExchange: ProviderProfile.FirstExchange?

    package init(
        body: Body = .form, scopeSeparator: String = " ", sendsScopeOnRefresh: Bool = false,
        codeParameters: [FormParameter] = [], refreshParameters: [FormParameter] = [], requiresNonce: Bool = false,
        names: [String: String] = [:], refresh: ProviderProfile.RefreshPolicy = .init()
    ) {
        self.body = body
        self.scopeSeparator = scopeSeparator
        self.sendsScopeOnRefresh = sendsScopeOnRefresh
        self.codeParameters = codeParameters
        self.refreshParameters = refreshParameters
        self.requiresNonce = requiresNonce
        self.names = names
        refreshGrantType = refresh.grantType
        refreshMethod = refresh.method
        refreshSendsClient = refresh.sendsClient
        firstExchange = refresh.first
    }

    package static let rfc = RequestStyle()

    /// The style with the values of one log-in in its parameters.
    package func filled(with values: [String: String]) throws(OAuthValueError) -> RequestStyle {
        var style = self
        style.codeParameters = try codeParameters.filled(with: values)
        style.refreshParameters = try refreshParameters.filled(with: values)
        return style
    }
}

extension [FormParameter] {
    /// The same with the values of one log-in in their texts.
    package func filled(with values: [String: String]) throws(OAuthValueError) -> [FormParameter] {
        var filled: [FormParameter] = []
        for parameter in self {
            let value = try VariableText.filled(parameter.value, with: values) { value in value }
            filled.append(FormParameter(parameter.name, value))
        }
        return filled
    }
}
