extension ServerBinding {
    /// A client registration at a provider with this profile.
    package init(
        profile: ProviderProfile, tokenEndpoint: EndpointURL, clientID: ClientID,
        authentication: ClientAuthentication, issuer: String? = nil, refreshEndpoint: EndpointURL? = nil
    ) {
        self.init(
            tokenEndpoint: tokenEndpoint, clientID: clientID, authentication: authentication, rules: profile.reply,
            limits: profile.httpLimits)
        self.refreshEndpoint = refreshEndpoint
        style = profile.style
        revocation = profile.revocation
        if profile.client.assertionAudience == .issuer { assertionAudience = issuer }
    }
}

extension ProviderProfile {
    package var style: RequestStyle {
        RequestStyle(
            body: request.body, scopeSeparator: request.scopeSeparator,
            sendsScopeOnRefresh: request.sendsScopeOnRefresh, codeParameters: request.tokenParameters,
            refreshParameters: request.refreshParameters, requiresNonce: dpop.requiresNonce,
            names: request.names, refresh: refresh)
    }

    package var httpLimits: HTTPLimits {
        var limits = HTTPLimits.tokenEndpoint
        limits.connectTimeout = self.limits.connectTimeout
        limits.timeout = self.limits.timeout
        return limits
    }
}
