extension ProviderProfile {
    /// Rejects combinations that no server can have.
    func refuseContradictions(file: String) throws(ProfileError) {
        func refuse(_ condition: Bool, _ field: String, _ detail: String) throws(ProfileError) {
            if condition { throw ProfileError(.contradiction, file: file, field: field, detail: detail) }
        }
        try refuse(
            refresh.rotation == .never && refresh.grace > .zero, "refresh.graceSeconds",
            "there is no grace period without rotation")
        try refuse(
            refresh.rotation == .never && refresh.reuseBlast != .none, "refresh.reuseBlast",
            "without rotation there is no reuse")
        if let idle = refresh.idleLifetime, let absolute = refresh.absoluteLifetime {
            try refuse(idle > absolute, "refresh.idleSeconds", "it is longer than refresh.absoluteSeconds")
        }
        try refuse(
            dpop.usage == .never && dpop.requiresNonce, "dpop.requiresNonce", "without DPoP there is no nonce")
        try refuse(
            dpop.usage == .required && dpop.acceptsDowngrade, "dpop.acceptsDowngrade",
            "a required feature cannot be downgraded")
        try refuse(
            limits.connectTimeout > limits.timeout, "limits.connectSeconds", "it is longer than limits.timeoutSeconds")
        try refuse(
            reply.format == .form && (!reply.tokenPath.isEmpty || !reply.otherLogins.isEmpty), "reply.tokenPath",
            "a form has no nested members")
        try refuse(
            revocation.carrier == .bearer && revocation.target != .accessToken, "revocation.target",
            "a refresh token is not a bearer token for a resource")
        try refuse(
            refresh.graceEnds == .replacementUsed && refresh.grace == .zero, "refresh.graceEnds",
            "there is no grace period that could end")
        try refuse(
            refresh.chain == .accessToken && (refresh.idleLifetime != nil || refresh.maximumTokens != nil),
            "refresh.chain", "there are no refresh tokens")
        try refuse(
            refresh.chain == .accessToken && refresh.grantType == "refresh_token", "refresh.grantType",
            "an access token is exchanged by a grant of its own")
        try refuse(
            refresh.method == .get && request.body == .json, "refresh.method", "a query is a form")
        for variable in variables
        where reply.keptMembers.contains(variable.name) || callback.keep.contains(variable.name) {
            throw ProfileError(
                .contradiction, file: file, field: "variables.\(variable.name)", detail: "it is also kept from a reply")
        }
        let addresses = [
            endpoints.authorization, endpoints.token, endpoints.refresh, endpoints.pushedAuthorization,
            endpoints.introspection, try? endpoints.revocation(of: ClientID("id")),
        ].compactMap(\.self)
        for address in addresses where address.hasVariableHost {
            try refuse(
                !variables.contains { $0.isAnyHost && address.host == "{\($0.name)}" }, "variables",
                "only a variable with anyHost may be a whole host")
        }
        // `parameters` is a section of additions; parameters that protect a request cannot be changed.
        for (section, parameters) in [
            ("authorizationParameters", request.authorizationParameters),
            ("tokenParameters", request.tokenParameters), ("refreshParameters", request.refreshParameters),
        ] {
            for parameter in parameters where Self.reserved.contains(parameter.name) {
                throw ProfileError(
                    .notAllowed, file: file, field: "request.\(section).\(parameter.name)",
                    detail: "this parameter is the client's own")
            }
            for parameter in parameters {
                let names = VariableText.names(of: parameter.value)
                guard names.allSatisfy({ name in variables.contains { $0.name == name } }) else {
                    throw ProfileError(
                        .notAllowed, file: file, field: "request.\(section).\(parameter.name)",
                        detail: "the profile has no such variable")
                }
            }
        }
    }

    static let reserved: Set<String> = [
        "client_id", "client_secret", "client_assertion", "client_assertion_type", "code", "code_verifier",
        "code_challenge", "code_challenge_method", "redirect_uri", "refresh_token", "response_type", "state",
        "request_uri", "dpop_jkt",
    ]
}
