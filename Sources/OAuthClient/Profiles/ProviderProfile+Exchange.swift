extension ProviderProfile {
    /// How the provider exchanges tokens of the app's own server.
    package struct ExchangeRules: Hashable, Sendable {
        package enum Grant: String, Hashable, Sendable, CaseIterable {
            /// RFC 7523 §2.1: the token is an assertion.
            case jwtBearer
            /// RFC 8693: the token is the subject's.
            case tokenExchange
        }

        package var grant: Grant
        /// The type of the app's token (RFC 8693 §3).
        package var subjectTokenType = Self.jwtType
        /// The audience of the new token, by a name that the provider knows.
        package var audience: String?
        /// Whether the exchange requests the scope that was granted at log-in.
        package var sendsScope = false
        package var parameters: [FormParameter] = []

        package init(grant: Grant) {
            self.grant = grant
        }

        package static let jwtType = "urn:ietf:params:oauth:token-type:jwt"
    }

    /// Nil if the section is missing.
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
                throw section.failure(.notAllowed, "subjectTokenType", "expected a URI")
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
