import TokenVault

/// How a provider is displayed. The library's description of it contains no secret.
enum ProviderView {
    static let headings = ["NAME", "ISSUER", "CLIENT", "DPOP"]

    static func record(_ entry: ProviderEntry) -> OutputRecord {
        switch entry {
        case .provider(let provider): record(provider)
        case .damaged(let handle, let problem):
            [
                Field("handle", handle).column("NAME", "(\(handle))"),
                Field("damaged", problem).column("ISSUER", "damaged: \(problem)"),
            ]
        }
    }

    static func record(_ provider: Provider) -> OutputRecord {
        let secrets = provider.clientSecretCount
        let tenant = Tenant.of(provider.name)
        return [
            Field("name", provider.name).words(tenant?.userId ?? provider.name).column("NAME"),
            Field("tenant", tenant?.tenant.name),
            Field("issuer", provider.issuer?.rawValue)
                .column("ISSUER", provider.issuer?.rawValue ?? provider.tokenEndpoint.rawValue),
            Field("authorizationEndpoint", provider.authorizationEndpoint?.rawValue),
            Field("tokenEndpoint", provider.tokenEndpoint.rawValue),
            Field("revocationEndpoint", provider.revocationEndpoint?.rawValue).orWords("none"),
            Field("clientId", provider.clientID.rawValue).column("CLIENT"),
            Field("clientAuthentication", provider.clientAuthentication),
            Field("scope", provider.scope?.description),
            Field("redirectUri", provider.redirectURI?.rawValue),
            Field("dpop", provider.dpop.rawValue).column("DPOP"),
            Field("profile", provider.profile),
            Field("pushedAuthorizationEndpoint", provider.pushedAuthorizationEndpoint?.rawValue),
            Field("introspectionEndpoint", provider.introspectionEndpoint?.rawValue),
            Field("deviceAuthorizationEndpoint", provider.deviceAuthorizationEndpoint?.rawValue),
            Field("jwksUri", provider.jwksURI?.rawValue),
            Field("assertionAudience", provider.assertionAudience?.rawValue),
            Field("deathLimit", provider.mostDeaths),
            Field("keepEndedDays", provider.daysEndedIsKept),
            Field("requiresPushedRequests", provider.requiresPushedRequests).label("pushed requests")
                .words(provider.requiresPushedRequests ? "required" : nil),
            Field("certificateThumbprint", provider.certificate?.thumbprint).label("client certificate"),
            Field("certificateExpiresAt", provider.certificate?.notValidAfter),
            Field("bindsTokensToCertificate", provider.bindsTokensToCertificate).label("certificate-bound tokens")
                .words(provider.bindsTokensToCertificate ? "yes" : nil),
            Field("isRegistrationManaged", provider.isRegistrationManaged).label("registered by itself")
                .words(provider.isRegistrationManaged ? "yes" : nil),
            Field("clientSecretExpiresAt", provider.clientSecretExpiresAt),
            Field("apiOrigins", provider.apiOrigins.map(\.rawValue))
                .words(
                    provider.apiOrigins.isEmpty
                        ? "any (https)" : provider.apiOrigins.map(\.rawValue).joined(separator: " ")),
            Field("clientSecretCount", secrets).label("client secrets").words(secrets > 1 ? secrets : nil),
        ]
    }
}
