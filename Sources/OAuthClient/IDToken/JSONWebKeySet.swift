import HTTPTypes

/// A provider's signing keys (RFC 7517 §5). Keys of unknown kinds are skipped.
package struct JSONWebKeySet: Sendable {
    private static let mostKeys = 64
    static let limits = HTTPLimits(bodyBytes: 262_144, timeout: .seconds(10))

    let keys: [JSONWebKey]

    /// Nil if it is not a key set.
    package init?(parsing document: [UInt8]) {
        guard let object = try? JSONObject(document: document), case .array(let elements)? = object["keys"] else {
            return nil
        }
        keys = elements.prefix(Self.mostKeys).compactMap { element in
            if case .object(let object) = element { JSONWebKey(object) } else { nil }
        }
    }

    /// Fetches a provider's keys. Nil if they are unavailable now.
    package static func fetch(from endpoint: EndpointURL, over transport: any HTTPTransport) async -> JSONWebKeySet? {
        var fields = HTTPFields()
        fields[.accept] = "application/jwk-set+json, application/json"
        let request = HTTPRequest(
            method: .get, scheme: endpoint.scheme, authority: endpoint.authority, path: endpoint.requestTarget,
            headerFields: fields)
        guard let reply = try? await transport.exchange(request, body: [], limits: limits),
            reply.response.status == .ok
        else { return nil }
        return JSONWebKeySet(parsing: reply.body)
    }

    /// The keys that may have made a signature.
    func keys(named keyID: String?, for algorithm: JWSAlgorithm) -> [JSONWebKey] {
        keys.filter { key in
            key.fits(algorithm) && (keyID == nil || key.keyID == keyID)
        }
    }
}
