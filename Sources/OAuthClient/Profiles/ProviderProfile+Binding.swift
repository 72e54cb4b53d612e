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
            refreshParameters: request.refreshParameters, requiresNonce: dpop.requiresNonce)
    }

    package var httpLimits: HTTPLimits {
        var limits = HTTPLimits.tokenEndpoint
        limits.connectTimeout = self.limits.connectTimeout
        limits.timeout = self.limits.timeout
        return limits
    }

    /// How often one refresh token may be sent again at once after a lost reply.
    ///
    /// Once by default: without it the chain is lost anyway. More often only inside a grace period that is known, each
    /// try counted with its whole timeout. Never where a second use costs more than this login.
    package var immediateReplays: Int {
        guard refresh.replay == .auto else { return 0 }
        if refresh.grace == .zero, refresh.reuseBlast == .clientUser, refresh.rotation != .never { return 0 }
        let tries = refresh.grace / (limits.timeout + .seconds(1))
        return max(1, min(3, Int(tries)))
    }
}
