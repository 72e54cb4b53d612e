import TokenVault

/// How a provider is shown. There is no secret in what the library tells of it.
enum ProviderFacts {
    static func facts(_ provider: Provider) -> Facts {
        var facts = Facts()
        facts.add("name", provider.name)
        facts.add("issuer", provider.issuer)
        facts.add("authorization endpoint", provider.authorizationEndpoint)
        facts.add("token endpoint", provider.tokenEndpoint)
        facts.add("revocation endpoint", provider.revocationEndpoint ?? "none")
        facts.add("client id", provider.clientID)
        facts.add("client authentication", provider.clientAuthentication)
        facts.add("scope", provider.scope)
        facts.add("redirect URI", provider.redirectURI)
        facts.add("DPoP", provider.dpop.rawValue)
        facts.add("profile", provider.profile)
        facts.add("pushed authorization endpoint", provider.pushedAuthorizationEndpoint)
        facts.add("introspection endpoint", provider.introspectionEndpoint)
        facts.add("JWKS URI", provider.jwksURI)
        if provider.requiresPushedRequests { facts.add("pushed requests", "required") }
        if provider.clientSecretCount > 1 { facts.add("client secrets", String(provider.clientSecretCount)) }
        return facts
    }

    static func row(_ entry: ProviderEntry) -> [String] {
        switch entry {
        case .provider(let provider):
            [provider.name, provider.issuer ?? provider.tokenEndpoint, provider.clientID, provider.dpop.rawValue]
        case .damaged(let handle, let problem): ["(\(handle))", "damaged: \(problem)", "", ""]
        }
    }

    static func json(_ entry: ProviderEntry) -> JSONValue {
        switch entry {
        case .provider(let provider): json(provider)
        case .damaged(let handle, let problem):
            .object([("handle", .string(handle)), ("damaged", .string(problem))])
        }
    }

    static func json(_ provider: Provider) -> JSONValue {
        .object([
            ("name", .string(provider.name)), ("issuer", JSONValue(provider.issuer)),
            ("authorizationEndpoint", JSONValue(provider.authorizationEndpoint)),
            ("tokenEndpoint", .string(provider.tokenEndpoint)),
            ("revocationEndpoint", JSONValue(provider.revocationEndpoint)),
            ("clientId", .string(provider.clientID)),
            ("clientAuthentication", .string(provider.clientAuthentication)), ("scope", JSONValue(provider.scope)),
            ("redirectUri", JSONValue(provider.redirectURI)), ("dpop", .string(provider.dpop.rawValue)),
            ("profile", .string(provider.profile)),
            ("pushedAuthorizationEndpoint", JSONValue(provider.pushedAuthorizationEndpoint)),
            ("introspectionEndpoint", JSONValue(provider.introspectionEndpoint)),
            ("jwksUri", JSONValue(provider.jwksURI)),
            ("requiresPushedRequests", .bool(provider.requiresPushedRequests)),
            ("clientSecretCount", .integer(provider.clientSecretCount)),
        ])
    }
}
