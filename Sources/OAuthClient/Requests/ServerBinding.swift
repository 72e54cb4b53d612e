/// One client registration at one token endpoint: everything that is the same for all its logins.
package struct ServerBinding: Sendable {
    package var tokenEndpoint: EndpointURL
    /// Where refresh tokens go, if not to the token endpoint.
    package var refreshEndpoint: EndpointURL?
    package var clientID: ClientID
    package var authentication: ClientAuthentication
    /// Other secrets that may be the right one while secrets are being exchanged, in the operator's order. Tried only
    /// on requests that carry neither a refresh token nor a code: whether a server looks at the token before it looks
    /// at the secret cannot be known, and a token that is spent on a refused request is lost.
    package var alternatives: [ClientAuthentication] = []
    /// Shown on every connection though the client proves itself in another way, for tokens that are bound to it (RFC 8705 §3).
    package var tokenCertificate: ClientCertificate?
    /// Whom a client assertion is for; nil: the token endpoint.
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
    /// What is shown on every connection to the server's endpoints.
    package var certificate: ClientCertificate? { authentication.certificate ?? tokenCertificate }

    /// This registration with each of its secrets, the first one first.
    var candidates: [ServerBinding] {
        ([authentication] + alternatives).map { authentication in
            var binding = self
            binding.authentication = authentication
            binding.alternatives = []
            return binding
        }
    }
}
