import HTTPTypes
import Synchronization

/// The metadata of the protected resource (RFC 9728).
extension ServerCore {
    static let resourceWellKnown = "/.well-known/oauth-protected-resource"
    private static let unguessablePlace = "/dev-metadata/protected-resource"
    /// Another server, as a hostile one names it.
    static let stranger = "https://other.example"

    /// The resource's identifier (§1.2).
    var resourceURL: String { base + "/resource" }

    var hostility: Set<ResourceHostility> { protectedResource.withLock { $0?.hostility ?? [] } }

    /// What may be asked for: the scopes of this server, and those of the resource.
    var knownScopes: [String] {
        configuration.scopes + protectedResource.withLock { $0?.scopesSupported ?? [] }
    }

    /// What is given of the scopes asked for.
    func granted(_ scope: [String]) -> [String] {
        hostility.contains(.shrinkingScopes) ? Array(scope.prefix(1)) : scope
    }

    static func mayHaveMetadata(_ path: String) -> Bool {
        path == unguessablePlace || path == resourceWellKnown || path.hasPrefix(resourceWellKnown + "/")
    }

    func resourceMetadata(_ request: IncomingRequest, _ record: inout RequestRecord) -> Reply {
        guard let behaviour = protectedResource.withLock({ $0 }),
            Self.hasMetadata(at: request.path, behaviour.metadataPlace)
        else {
            record.outcome = "not_found"
            return .notFound
        }
        guard request.method == .get else { return .methodNotAllowed("GET") }
        if behaviour.hostility.contains(.redirectedMetadata) {
            return .redirect(to: behaviour.metadataRedirect, status: .found)
        }
        return .json(resourceDocument(behaviour))
    }

    /// The challenges of a refusal, with what a client needs to log in (§5.1, RFC 6750 §3).
    func challenges(of error: OAuthError, _ behaviour: ProtectedResourceBehaviour) -> [String] {
        let lacksToken = error.code == "missing_token"
        var more = ""
        if lacksToken, let scope = behaviour.challengeScope { more += ", scope=\"\(scope)\"" }
        if let url = metadataURL(behaviour) { more += ", resource_metadata=\"\(url)\"" }
        var fields = error.headers[values: .wwwAuthenticate]
        if lacksToken, behaviour.requiresDPoP { fields.removeAll { !$0.hasPrefix("DPoP ") } }
        return fields.map { $0 + more }
    }

    private static func hasMetadata(at path: String, _ place: ProtectedResourceBehaviour.MetadataPlace) -> Bool {
        switch place {
        case .challenge: path == unguessablePlace
        case .path, .pathUnnamed:
            path == resourceWellKnown + "/resource" || path.hasPrefix(resourceWellKnown + "/resource/")
        case .root: path == resourceWellKnown
        }
    }

    /// `nil`: the challenge does not name it.
    private func metadataURL(_ behaviour: ProtectedResourceBehaviour) -> String? {
        if behaviour.hostility.contains(.insecureMetadata) {
            return "http://metadata.example" + Self.resourceWellKnown + "/resource"
        }
        switch behaviour.metadataPlace {
        case .challenge: return base + Self.unguessablePlace
        case .path:
            return "http://127.0.0.1:\(port)" + Self.resourceWellKnown + configuration.issuerPath + "/resource"
        case .pathUnnamed, .root: return nil
        }
    }

    /// §2.
    private func resourceDocument(_ behaviour: ProtectedResourceBehaviour) -> JSONValue {
        let hostility = behaviour.hostility
        let servers: [String] = hostility.contains(.noServers) ? [] : behaviour.authorizationServers ?? [issuer]
        let resource = hostility.contains(.mismatchedResource) ? Self.stranger + "/resource" : resourceURL
        var members: [String: JSONValue] = [
            "resource": .string(resource),
            "authorization_servers": .array(servers.map(JSONValue.string)),
            "bearer_methods_supported": ["header"],
        ]
        if !behaviour.scopesSupported.isEmpty {
            members["scopes_supported"] = .array(behaviour.scopesSupported.map(JSONValue.string))
        }
        let usesDPoP =
            behaviour.requiresDPoP || configuration.noncePolicy != .none
            || configuration.clients.contains { $0.requiresDPoP }
        if usesDPoP {
            members["dpop_signing_alg_values_supported"] = .array(ProofKey.algorithms.map(JSONValue.string))
        }
        if behaviour.requiresDPoP { members["dpop_bound_access_tokens_required"] = true }
        if hostility.contains(.longMetadata) {
            members["padding"] = .string(String(repeating: "x", count: 100 * 1024))
        }
        return .object(members)
    }
}
