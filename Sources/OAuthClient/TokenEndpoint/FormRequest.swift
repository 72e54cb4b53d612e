import FoundationEssentials
import HTTPTypes

/// A form that goes to an endpoint with the client's credentials.
struct FormRequest {
    let request: HTTPRequest
    let body: [UInt8]

    /// - Parameter extra: what a caller adds. It never replaces or repeats one of ours.
    init(
        _ endpoint: EndpointURL, _ parameters: [FormParameter], extra: [FormParameter], binding: ServerBinding,
        proof: DPoPProof?
    ) {
        var fields = HTTPFields()
        fields[.contentType] = "application/x-www-form-urlencoded"
        fields[.accept] = "application/json"
        if let proof { fields[.dpop] = proof.rawValue }
        // Credentials stand in the header or in the body, never in both (RFC 6749 §2.3).
        var credentials: [FormParameter] = []
        switch binding.authentication {
        case .none: credentials = [FormParameter("client_id", binding.clientID.rawValue)]
        case .clientSecretBasic(let secret): fields[.authorization] = Self.basic(binding.clientID, secret)
        case .clientSecretPost(let secret):
            credentials = [
                FormParameter("client_id", binding.clientID.rawValue), FormParameter("client_secret", secret.reveal()),
            ]
        }
        request = HTTPRequest(
            method: .post, scheme: endpoint.scheme, authority: endpoint.authority, path: endpoint.requestTarget,
            headerFields: fields)
        let own = parameters + credentials
        body = FormCodec.encode(own + Self.additions(extra + binding.extraParameters, to: own))
    }

    private static func additions(_ extra: [FormParameter], to own: [FormParameter]) -> [FormParameter] {
        // What names the client comes from us alone, also where we leave it out.
        var names: Set<String> = ["client_id", "client_secret", "client_assertion", "client_assertion_type"]
        names.formUnion(own.map(\.name))
        return extra.filter { names.insert($0.name).inserted }
    }

    private static func basic(_ clientID: ClientID, _ secret: ClientSecret) -> String {
        let pair = FormCodec.encode(clientID.rawValue) + ":" + FormCodec.encode(secret.reveal())
        return "Basic " + Data(pair.utf8).base64EncodedString()
    }
}
