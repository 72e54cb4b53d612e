import HTTPTypes
import Synchronization

extension ServerCore {
    /// The protected resource as it is now.
    var resourceReading: JSONValue {
        get throws(ControlError) {
            let behaviour = try currentResource
            let servers = behaviour.authorizationServers.map { JSONValue.array($0.map(JSONValue.string)) }
            return [
                "resource": .string(resourceURL),
                "authorization_servers": servers ?? .null,
                "scopes_supported": .array(behaviour.scopesSupported.map(JSONValue.string)),
                "challenge_scope": behaviour.challengeScope.map(JSONValue.string) ?? .null,
                "metadata_place": .string(behaviour.metadataPlace.rawValue),
                "metadata_redirect": .string(behaviour.metadataRedirect),
                "hostility": .array(behaviour.hostility.map(\.rawValue).sorted().map(JSONValue.string)),
            ]
        }
    }

    /// Members that are left out stay as they are.
    func changeResource(_ body: ControlBody) throws(ControlError) -> Reply {
        try body.refuseOthers(than: [
            "authorization_servers", "challenge_scope", "metadata_place", "metadata_redirect", "hostility",
        ])
        var behaviour = try currentResource
        if body.isNull("authorization_servers") {
            behaviour.authorizationServers = nil
        } else if let servers = try body.texts("authorization_servers") {
            behaviour.authorizationServers = servers
        }
        if body.isNull("challenge_scope") {
            behaviour.challengeScope = nil
        } else if let scope = try body.text("challenge_scope") {
            behaviour.challengeScope = scope
        }
        if let place = try body.choice("metadata_place", ProtectedResourceBehaviour.MetadataPlace.self) {
            behaviour.metadataPlace = place
        }
        if let target = try body.text("metadata_redirect") { behaviour.metadataRedirect = target }
        if let names = try body.texts("hostility") { behaviour.hostility = try Self.hostility(names) }
        let changed = behaviour
        protectedResource.withLock { $0 = changed }
        return .json(try resourceReading)
    }

    private var currentResource: ProtectedResourceBehaviour {
        get throws(ControlError) {
            guard let behaviour = protectedResource.withLock({ $0 }) else {
                throw ControlError(sentence: "the resource of this server has no metadata", status: .notFound)
            }
            return behaviour
        }
    }

    private static func hostility(_ names: [String]) throws(ControlError) -> Set<ResourceHostility> {
        var hostility: Set<ResourceHostility> = []
        for name in names {
            guard let one = ResourceHostility(rawValue: name) else {
                let known = ResourceHostility.allCases.map(\.rawValue).joined(separator: ", ")
                throw ControlError(sentence: "hostility must be of \(known)")
            }
            hostility.insert(one)
        }
        return hostility
    }
}
