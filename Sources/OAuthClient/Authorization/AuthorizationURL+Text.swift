extension AuthorizationURL {
    /// The whole URL. It contains the state: pass it to the user's browser and never to a log.
    package func reveal() -> String { reveal(parameters) }

    /// The URL for a request that was already pushed to the server (RFC 9126 §4).
    package func reveal(_ pushed: PushedAuthorization) -> String {
        reveal([
            FormParameter("client_id", clientID.rawValue), FormParameter("request_uri", pushed.requestURI),
        ])
    }

    /// The parameters of the request, for the URL or a pushed request.
    var parameters: [FormParameter] {
        var parameters = [
            FormParameter("response_type", "code"), FormParameter("client_id", clientID.rawValue),
            FormParameter("state", state.reveal()),
        ]
        func add(_ name: String, _ value: String?) {
            if let value { parameters.append(FormParameter(name, value)) }
        }
        add("redirect_uri", redirectURI)
        add("scope", scope.flatMap { $0.isEmpty ? nil : $0.tokens.joined(separator: scopeSeparator) })
        add("code_challenge", codeChallenge?.rawValue)
        add("code_challenge_method", codeChallenge.map { _ in "S256" })
        add("dpop_jkt", keyThumbprint?.rawValue)
        add("login_hint", loginHint)
        add("nonce", nonce?.reveal())
        add("prompt", prompt)
        add("max_age", maximumAge.map { String($0) })
        add("acr_values", contextClasses.isEmpty ? nil : contextClasses.joined(separator: " "))
        add("authorization_details", authorizationDetails)
        for resource in resources { add("resource", resource) }
        // Parameters from a provider's registration never replace those that protect the request.
        var names = Set(parameters.map(\.name)).union(Self.ownParameters)
        parameters += extraParameters.filter { names.insert($0.name).inserted }
        return parameters
    }

    /// Parameters that callers cannot add to a request, even where we leave them out.
    package static let ownParameters: Set<String> = [
        "response_type", "client_id", "state", "redirect_uri", "scope", "code_challenge", "code_challenge_method",
        "dpop_jkt", "request", "request_uri", "client_secret", "client_assertion", "client_assertion_type",
    ]

    private func reveal(_ parameters: [FormParameter]) -> String {
        let query = String(decoding: FormCodec.encode(parameters.named(by: names)), as: UTF8.self)
        // An endpoint may have its own query, which is kept (RFC 6749 §3.1).
        return endpoint.rawValue + (endpoint.url.query == nil ? "?" : "&") + query
    }
}
