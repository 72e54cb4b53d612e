/// One client registration at one token endpoint: everything that all its logins share.
package struct ServerBinding: Sendable {
    package var tokenEndpoint: EndpointURL
    /// The endpoint for refresh tokens, if it is not the token endpoint.
    package var refreshEndpoint: EndpointURL?
    package var clientID: ClientID
    package var authentication: ClientAuthentication
    /// Other secrets that may be valid during a secret rotation, in the operator's order. They are tried only on
    /// requests that carry neither a refresh token nor a code: it is unknown whether a server checks the token before
    /// the secret, and a token that is spent on a rejected request is lost.
    package var alternatives: [ClientAuthentication] = []
    /// Presented on every connection in addition to the client's own authentication, for tokens that are bound to it
    /// (RFC 8705 §3).
    package var tokenCertificate: ClientCertificate?
    /// The audience of a client assertion; nil for the token endpoint.
    package var assertionAudience: String?
    package var rules: ReplyRules
    package var style = RequestStyle.rfc
    package var revocation = ProviderProfile.RevocationRules()
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

extension ServerBinding {
    /// The certificate that is presented on every connection to the server's endpoints.
    package var certificate: ClientCertificate? { authentication.certificate ?? tokenCertificate }

    /// This registration with each of its secrets, in order.
    var candidates: [ServerBinding] {
        ([authentication] + alternatives).map { authentication in
            var binding = self
            binding.authentication = authentication
            binding.alternatives = []
            return binding
        }
    }
}
