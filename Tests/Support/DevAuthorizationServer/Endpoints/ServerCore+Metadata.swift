extension ServerCore {
    /// Discovery as it is now: a hostile server's is not what it was made as.
    var currentDiscovery: Reply {
        let hostility = self.hostility
        guard hostility.contains(.mismatchedIssuer) || hostility.contains(.noPKCE),
            case .object(var members)? = JSONValue.parse(discovery.body)
        else { return discovery }
        if hostility.contains(.mismatchedIssuer) { members["issuer"] = .string(Self.stranger) }
        if hostility.contains(.noPKCE) { members.removeValue(forKey: "code_challenge_methods_supported") }
        return .json(JSONValue.object(members))
    }

    /// RFC 8414 §2 and OpenID Connect Discovery §3 in one document.
    static func metadata(
        _ configuration: AuthorizationServerConfiguration, issuer: String, base: String, secureBase: String?
    ) -> JSONValue {
        let byCertificate: [JSONValue] = secureBase == nil ? [] : ["tls_client_auth", "self_signed_tls_client_auth"]
        let secrets: [JSONValue] = ["client_secret_basic", "client_secret_post", "private_key_jwt"]
        let confidential = JSONValue.array(secrets + byCertificate)
        let methods = JSONValue.array(["none"] + secrets + byCertificate)
        let algorithms = JSONValue.array(ProofKey.algorithms.map(JSONValue.string))
        var document: [String: JSONValue] = [
            "issuer": .string(issuer),
            "authorization_endpoint": .string(base + "/authorize"),
            "pushed_authorization_request_endpoint": .string(base + "/par"),
            "require_pushed_authorization_requests": .bool(configuration.requiresPushedRequests),
            "device_authorization_endpoint": .string(base + "/device_authorization"),
            "token_endpoint": .string(base + "/token"),
            "revocation_endpoint": .string(base + "/revoke"),
            "introspection_endpoint": .string(base + "/introspect"),
            "jwks_uri": .string(base + "/jwks"),
            "protected_resources": .array(([base + "/resource"] + configuration.resources).map(JSONValue.string)),
            "scopes_supported": .array(configuration.scopes.map(JSONValue.string)),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": [
                "authorization_code", "refresh_token", "client_credentials", .string(assertionGrant),
                .string(exchangeGrant), .string(deviceGrant),
            ],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": true,
            "token_endpoint_auth_methods_supported": methods,
            "token_endpoint_auth_signing_alg_values_supported": algorithms,
            "revocation_endpoint_auth_methods_supported": methods,
            "revocation_endpoint_auth_signing_alg_values_supported": algorithms,
            "introspection_endpoint_auth_methods_supported": confidential,
            "introspection_endpoint_auth_signing_alg_values_supported": algorithms,
            "dpop_signing_alg_values_supported": algorithms,
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [.string(configuration.idTokenAlgorithm.rawValue)],
        ]
        if configuration.fetchClientDocument != nil { document["client_id_metadata_document_supported"] = true }
        if configuration.registration != nil { document["registration_endpoint"] = .string(base + "/register") }
        if let secureBase {
            document["tls_client_certificate_bound_access_tokens"] = true
            document["mtls_endpoint_aliases"] = [
                "token_endpoint": .string(secureBase + "/token"),
                "revocation_endpoint": .string(secureBase + "/revoke"),
                "introspection_endpoint": .string(secureBase + "/introspect"),
                "pushed_authorization_request_endpoint": .string(secureBase + "/par"),
                "device_authorization_endpoint": .string(secureBase + "/device_authorization"),
            ]
        }
        return .object(document)
    }
}
