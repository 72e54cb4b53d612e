package import FoundationEssentials
import HTTPTypes

/// The revocation endpoint of one provider (RFC 7009), or its proprietary equivalent.
package struct RevocationEndpoint: Sendable {
    /// Nil if the server has none; every revocation then reports that.
    private let endpoint: EndpointURL?
    private let sender: EndpointSender

    package init(
        endpoint: EndpointURL?, binding: ServerBinding, transport: any HTTPTransport,
        now: @escaping @Sendable () -> Date
    ) {
        self.endpoint = endpoint
        sender = EndpointSender(binding: binding, transport: transport, now: now)
    }

    private var binding: ServerBinding { sender.binding }
    private var style: ProviderProfile.RevocationRules { binding.revocation }

    /// Requests the revocation of a token. `dpop` is for servers that require a proof here too: the request is repeated
    /// once if the server asks for a nonce.
    package func revoke(
        _ token: RevocableToken, dpop: DPoPContext? = nil, extraParameters: [FormParameter] = []
    ) async -> RevocationAttempt {
        guard let endpoint else { return RevocationAttempt(outcome: .unsupported, nonces: [:], requestsSent: 0) }
        var session = ProofSession(dpop)
        let sent = await sender.send(to: endpoint, &session, mostRepeats: 1) {
            form(endpoint, token, extraParameters, $0, at: $1)
        }
        let outcome = sent.reply.map { RevocationOutcome($0, binding.rules, style, now: sent.repliedAt) }
        return RevocationAttempt(
            outcome: outcome ?? .tryLater(retryAfter: nil), nonces: session.learned, requestsSent: sent.requestsSent)
    }

    private func form(
        _ endpoint: EndpointURL, _ token: RevocableToken, _ extra: [FormParameter], _ session: ProofSession,
        at now: Date
    ) -> FormRequest? {
        let (text, hint) =
            switch token {
            case .refresh(let token): (token.reveal(), "refresh_token")
            case .access(let token): (token.reveal(), "access_token")
            }
        var parameters = [FormParameter(style.parameter, text)]
        if style.sendsHint { parameters.append(FormParameter("token_type_hint", hint)) }
        do throws(OAuthValueError) {
            let proof = try session.proof(for: endpoint, method: style.method.http, at: now)
            if style.isStandardRequest {
                return try FormRequest(
                    endpoint, parameters, extra: extra, binding: binding, proof: proof,
                    issuedAt: session.corrected(now))
            }
            return try special(endpoint, text, parameters + extra, proof, issuedAt: session.corrected(now))
        } catch {
            return nil
        }
    }

    /// The provider's proprietary request.
    private func special(
        _ endpoint: EndpointURL, _ token: String, _ parameters: [FormParameter], _ proof: DPoPProof?, issuedAt: Date
    ) throws(OAuthValueError) -> FormRequest {
        var fields = HTTPFields()
        fields[.accept] = "application/json"
        if let proof { fields[.dpop] = proof.rawValue }
        var all = style.carrier == .bearer ? [] : parameters
        switch style.authentication {
        case .none: break
        case .client:
            let credentials = try ClientCredentials(binding, issuedAt: issuedAt)
            fields[.authorization] = credentials.authorization
            all += credentials.parameters
        case .basic:
            if let secret = binding.authentication.secret {
                fields[.authorization] = ClientCredentials.basic(binding.clientID, secret)
            }
        }
        if style.carrier == .bearer { fields[.authorization] = "Bearer \(token)" }
        all = all.named(by: binding.style.names)
        let isJSON = style.carrier == .json
        fields[.contentType] = isJSON ? "application/json" : "application/x-www-form-urlencoded"
        let request = HTTPRequest(
            method: style.method.http, scheme: endpoint.scheme, authority: endpoint.authority,
            path: endpoint.requestTarget, headerFields: fields)
        return FormRequest(request, body: isJSON ? Array(JSONText.object(all).utf8) : FormCodec.encode(all))
    }
}

extension ProviderProfile.RevocationRules.Method {
    fileprivate var http: HTTPRequest.Method {
        switch self {
        case .post: .post
        case .delete: .delete
        }
    }
}
