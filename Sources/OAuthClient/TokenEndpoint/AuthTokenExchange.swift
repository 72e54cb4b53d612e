/// One use of a token that the app's own server issued (RFC 7523 §2.1, RFC 8693 §2.1).
package struct AuthTokenExchange: Sendable {
    package var authToken: AuthToken
    package var rules: ProviderProfile.ExchangeRules
    package var scope: Scope?
    package var dpop: DPoPContext?

    package init(
        authToken: AuthToken, rules: ProviderProfile.ExchangeRules, scope: Scope? = nil, dpop: DPoPContext? = nil
    ) {
        self.authToken = authToken
        self.rules = rules
        self.scope = scope
        self.dpop = dpop
    }

    /// The parameters of the grant itself. The RFCs registered these names of grants and token types.
    var parameters: [FormParameter] {
        switch rules.grant {
        case .jwtBearer:
            return [
                FormParameter("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
                FormParameter("assertion", authToken.reveal()),
            ]
        case .tokenExchange:
            return [
                FormParameter("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
                FormParameter("subject_token", authToken.reveal()),
                FormParameter("subject_token_type", rules.subjectTokenType),
                FormParameter("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
            ] + (rules.audience.map { [FormParameter("audience", $0)] } ?? [])
        }
    }
}
