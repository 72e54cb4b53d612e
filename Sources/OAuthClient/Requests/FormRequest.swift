import FoundationEssentials
import HTTPTypes

/// Parameters sent to an endpoint with the client's credentials, as a form or as JSON.
struct FormRequest {
    let request: HTTPRequest
    let body: [UInt8]

    /// - Parameters:
    ///   - extra: the caller's additions. They never replace or repeat one of ours.
    ///   - issuedAt: our clock, corrected by the server's known offset.
    ///   - asksByQuery: whether the parameters go into the query of a `GET`, as some providers want renewals.
    ///   - sendsClient: whether the client is authenticated.
    init(
        _ endpoint: EndpointURL, _ parameters: [FormParameter], extra: [FormParameter], binding: ServerBinding,
        proof: DPoPProof?, issuedAt: Date, asksByQuery: Bool = false, sendsClient: Bool = true
    ) throws(OAuthValueError) {
        // A value that the log-in should have brought.
        guard endpoint.variables.isEmpty else { throw OAuthValueError(.malformed, "endpoint URL") }
        var fields = HTTPFields()
        fields[.accept] = "application/json"
        if let proof { fields[.dpop] = proof.rawValue }
        let credentials = sendsClient ? try ClientCredentials(binding, issuedAt: issuedAt) : ClientCredentials()
        fields[.authorization] = credentials.authorization
        let names = Set(parameters.map(\.name))
        let own = parameters + credentials.parameters.filter { !names.contains($0.name) }
        let added = own + Self.additions(extra, to: own)
        let all = (added + Self.additions(binding.extraParameters, to: added)).named(by: binding.style.names)
        var path = endpoint.requestTarget
        if asksByQuery {
            path += (path.contains("?") ? "&" : "?") + String(decoding: FormCodec.encode(all), as: UTF8.self)
            body = []
        } else {
            let isForm = binding.style.body == .form
            fields[.contentType] = isForm ? "application/x-www-form-urlencoded" : "application/json"
            body = isForm ? FormCodec.encode(all) : Array(JSONText.object(all).utf8)
        }
        request = HTTPRequest(
            method: asksByQuery ? .get : .post, scheme: endpoint.scheme, authority: endpoint.authority, path: path,
            headerFields: fields)
    }

    init(_ request: HTTPRequest, body: [UInt8]) {
        self.request = request
        self.body = body
    }

    /// All other parameters occur once in a request (RFC 6749 §3.2; RFC 8707 §2, RFC 8693 §2.1).
    private static let repeatedNames: Set<String> = ["resource", "audience"]

    private static func additions(_ extra: [FormParameter], to own: [FormParameter]) -> [FormParameter] {
        // Only we name the client, even where we leave the parameter out.
        var names: Set<String> = ["client_id", "client_secret", "client_assertion", "client_assertion_type"]
        names.formUnion(own.map(\.name))
        var repeatable: Set<String> = []
        return extra.filter { parameter in
            if names.insert(parameter.name).inserted {
                if repeatedNames.contains(parameter.name) { repeatable.insert(parameter.name) }
                return true
            }
            return repeatable.contains(parameter.name)
        }
    }
}

extension [FormParameter] {
    /// The same with the provider's own names for some of them.
    func named(by names: [String: String]) -> [FormParameter] {
        names.isEmpty ? self : map { FormParameter(names[$0.name] ?? $0.name, $0.value) }
    }
}

/// The client's credentials, either in the header or in the body, never in both (RFC 6749 §2.3).
struct ClientCredentials {
    var authorization: String?
    var parameters: [FormParameter] = []

    init() {}

    init(_ binding: ServerBinding, issuedAt: Date) throws(OAuthValueError) {
        let clientID = FormParameter("client_id", binding.clientID.rawValue)
        switch binding.authentication {
        // The certificate is presented on the connection; the id names its client (RFC 8705 §2).
        case .none, .tlsClientAuth, .selfSignedTLSClientAuth: parameters = [clientID]
        case .clientSecretBasic(let secret): authorization = Self.basic(binding.clientID, secret)
        case .clientSecretPost(let secret):
            parameters = [clientID, FormParameter("client_secret", secret.reveal())]
        case .privateKeyJWT(let key):
            let assertion = try ClientAssertion(
                key: key, clientID: binding.clientID,
                audience: binding.assertionAudience ?? binding.tokenEndpoint.rawValue, issuedAt: issuedAt)
            parameters = [
                clientID, FormParameter("client_assertion_type", ClientAssertion.type),
                FormParameter("client_assertion", assertion.rawValue),
            ]
        }
    }

    static func basic(_ clientID: ClientID, _ secret: ClientSecret) -> String {
        let pair = FormCodec.encode(clientID.rawValue) + ":" + FormCodec.encode(secret.reveal())
        return "Basic " + Data(pair.utf8).base64EncodedString()
    }
}
