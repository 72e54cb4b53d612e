/// One client registration at one token endpoint: everything that is the same for all its logins.
package struct ServerBinding: Sendable {
    package var tokenEndpoint: EndpointURL
    /// Where refresh tokens go, if not to the token endpoint.
    package var refreshEndpoint: EndpointURL?
    package var clientID: ClientID
    package var authentication: ClientAuthentication
    package var rules: ReplyRules
    package var style = RequestStyle.rfc
    package var limits: HTTPLimits
    /// Sent with every request to the token endpoint, in this order.
    package var extraParameters: [FormParameter]

    package init(
        tokenEndpoint: EndpointURL, clientID: ClientID, authentication: ClientAuthentication,
        rules: ReplyRules = .rfc, limits: HTTPLimits = .tokenEndpoint, extraParameters: [FormParameter] = []
    ) {
        self.tokenEndpoint = tokenEndpoint
        self.clientID = clientID
        self.authentication = authentication
        self.rules = rules
        self.limits = limits
        self.extraParameters = extraParameters
    }
}
