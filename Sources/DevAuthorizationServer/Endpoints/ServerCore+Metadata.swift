extension ServerCore {
    /// RFC 8414 §2 and OpenID Connect Discovery §3 in one document.
    var metadata: JSONValue {
        let methods: JSONValue = ["none", "client_secret_basic", "client_secret_post"]
        return [
            "issuer": .string(issuer),
            "authorization_endpoint": .string(base + "/authorize"),
            "token_endpoint": .string(base + "/token"),
            "revocation_endpoint": .string(base + "/revoke"),
            "introspection_endpoint": .string(base + "/introspect"),
            "jwks_uri": .string(base + "/jwks"),
            "scopes_supported": .array(configuration.scopes.map(JSONValue.string)),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": true,
            "token_endpoint_auth_methods_supported": methods,
            "revocation_endpoint_auth_methods_supported": methods,
            "introspection_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
            "dpop_signing_alg_values_supported": .array(ProofKey.algorithms.map(JSONValue.string)),
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [.string(configuration.idTokenAlgorithm.rawValue)],
        ]
    }
}
