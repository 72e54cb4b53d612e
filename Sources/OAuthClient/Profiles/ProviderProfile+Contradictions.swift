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
        }
    }

    private static let reserved: Set<String> = [
        "client_id", "client_secret", "client_assertion", "client_assertion_type", "code", "code_verifier",
        "code_challenge", "code_challenge_method", "redirect_uri", "refresh_token", "response_type", "state",
        "request_uri", "dpop_jkt",
    ]
}
