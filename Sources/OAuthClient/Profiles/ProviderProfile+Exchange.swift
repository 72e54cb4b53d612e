extension ProviderProfile {
    /// How the provider takes tokens of the app's own server in exchange.
    package struct ExchangeRules: Hashable, Sendable {
        package enum Grant: String, Hashable, Sendable, CaseIterable {
            /// RFC 7523 §2.1: the token is an assertion.
            case jwtBearer
            /// RFC 8693: the token is the subject's.
            case tokenExchange
        }

        package var grant: Grant
        /// What kind of token the app's is (RFC 8693 §3).
        package var subjectTokenType = Self.jwtType
        /// Whom the new token is for, by a name that the provider knows.
        package var audience: String?
        /// Whether the scope that was granted at log-in is asked for again.
        package var sendsScope = false
        package var parameters: [FormParameter] = []

        package init(grant: Grant) {
            self.grant = grant
        }

        package static let jwtType = "urn:ietf:params:oauth:token-type:jwt"
    }

    /// Nil if the section is not there.
    static func exchange(_ section: ProfileFields) throws(ProfileError) -> ExchangeRules? {
        var section = section
        guard let grant = try section.choice("grant", ExchangeRules.Grant.self) else {
            try section.finish()
            return nil
        }
        var rules = ExchangeRules(grant: grant)
        let type = try section.text("subjectTokenType")
        rules.audience = try section.text("audience")
        if grant == .jwtBearer {
            for (field, value) in [("subjectTokenType", type), ("audience", rules.audience)] where value != nil {
                throw section.failure(.contradiction, field, "an assertion says this itself")
            }
        }
        if let type {
            guard type.hasPrefix("urn:") || type.hasPrefix("https://") else {
                throw section.failure(.notAllowed, "subjectTokenType", "a URI is wanted")
            }
            rules.subjectTokenType = type
        }
        if let sends = try section.flag("sendsScope") { rules.sendsScope = sends }
        rules.parameters = try section.parameters("parameters")
        for parameter in rules.parameters where ownParameters.contains(parameter.name) {
            throw section.failure(.notAllowed, "parameters.\(parameter.name)", "this parameter is the client's own")
        }
        try section.finish()
        return rules
    }

    private static let ownParameters: Set<String> = [
        "grant_type", "assertion", "subject_token", "subject_token_type", "requested_token_type", "client_id",
        "client_secret", "client_assertion", "client_assertion_type", "refresh_token", "code",
    ]
}
