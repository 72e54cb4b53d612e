public import OAuthClient
public import TokenVault

/// Values for tests. Every secret among them carries a marker, so that a scan finds it where it must not be.
public enum Sample {
    /// Contained in every secret sample.
    public static let marker = "CANARY-"

    /// A registration at a fictitious provider.
    public static func provider(
        name: String = "acme", dpop: DPoPPolicy = .optional, canRevoke: Bool = true
    ) throws -> ProviderRegistration {
        try ProviderRegistration(
            name: name, issuer: Issuer("https://\(name).example"),
            authorizationEndpoint: EndpointURL("https://\(name).example/authorize"),
            tokenEndpoint: EndpointURL("https://\(name).example/token"),
            revocationEndpoint: canRevoke ? EndpointURL("https://\(name).example/revoke") : nil,
            clientID: ClientID("client-1"),
            authentication: .clientSecretBasic(ClientSecret(marker + "client-secret")),
            scope: Scope("read write"),
            // Each has its own, so that callbacks of two servers are not confused.
            redirectURI: RedirectURI("https://app.example/callback" + (name == "acme" ? "" : "/\(name)")), dpop: dpop)
    }

    public static func accessToken(_ name: String = "1") throws -> AccessToken {
        try AccessToken(marker + "access-" + name)
    }

    public static func refreshToken(_ name: String = "1") throws -> RefreshToken {
        try RefreshToken(marker + "refresh-" + name)
    }
}
