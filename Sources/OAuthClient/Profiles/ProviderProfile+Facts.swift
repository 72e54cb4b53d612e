// What tools and people ask of a profile.
extension ProviderProfile {
    /// Methods of client authentication that the provider takes, the best first; empty if that is not known.
    public var authenticationMethods: [String] { client.authentication }
    /// Whether logins are bound to a DPoP key (RFC 9449).
    public var keyBinding: Usage { dpop.usage }
    /// Whether log-ins need the endpoint of RFC 9126.
    public var wantsPushedRequests: Bool { request.pushedAuthorization == .required }
    /// False where the server refuses requests with a challenge (RFC 7636).
    public var usesPKCE: Bool { client.pkce }
}
