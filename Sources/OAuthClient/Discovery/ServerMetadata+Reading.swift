extension ServerMetadata {
    /// Reads a metadata document. One insecure endpoint invalidates the whole document.
    ///
    /// - Parameters:
    ///   - document: the body of the reply: one JSON object (RFC 8414 §3.2).
    ///   - issuer: the server that was asked; the document must name exactly this issuer (RFC 8414 §3.3).
    ///   - allowsInsecureLoopback: accepts `http` endpoints on this machine.
    /// - Throws: ``DiscoveryError``, which names the member at fault.
    public init(
        parsing document: [UInt8], issuer: Issuer, allowsInsecureLoopback: Bool = false
    ) throws(DiscoveryError) {
        guard document.count <= ReplyRules.maximumBodyBytes, let object = try? JSONObject(document: document) else {
            throw DiscoveryError(.malformed, finding: Self.stranger(document))
        }
        let reader = MetadataReader(object: object, allowsInsecureLoopback: allowsInsecureLoopback)
        guard case .string(let named)? = object["issuer"] else {
            if case .ambiguous? = object["issuer"] { throw reader.fault("issuer", "is not text") }
            throw DiscoveryError(.malformed, member: "issuer", finding: "the metadata document names no issuer")
        }
        guard named == issuer.rawValue else { throw DiscoveryError(.issuerMismatch, named: named) }
        var unread: [String] = []
        guard let tokenEndpoint = try reader.endpoint("token_endpoint") else {
            throw DiscoveryError(.missingEndpoint, member: "token_endpoint")
        }
        self.issuer = issuer
        self.tokenEndpoint = tokenEndpoint
        authorizationEndpoint = try reader.endpoint("authorization_endpoint")
        revocationEndpoint = try reader.endpoint("revocation_endpoint", &unread)
        introspectionEndpoint = try reader.endpoint("introspection_endpoint", &unread)
        pushedAuthorizationRequestEndpoint = try reader.endpoint("pushed_authorization_request_endpoint")
        deviceAuthorizationEndpoint = try reader.endpoint("device_authorization_endpoint", &unread)
        jwksURI = try reader.endpoint("jwks_uri")
        registrationEndpoint = try reader.endpoint("registration_endpoint", &unread)
        scopesSupported = reader.list("scopes_supported", &unread) ?? []
        responseTypesSupported = reader.list("response_types_supported", &unread) ?? []
        grantTypesSupported = reader.list("grant_types_supported", &unread) ?? ["authorization_code", "implicit"]
        tokenEndpointAuthMethodsSupported =
            reader.list("token_endpoint_auth_methods_supported", &unread) ?? ["client_secret_basic"]
        codeChallengeMethodsSupported = reader.list("code_challenge_methods_supported", &unread) ?? []
        dpopSigningAlgValuesSupported = reader.list("dpop_signing_alg_values_supported", &unread) ?? []
        authorizationResponseIssParameterSupported = try reader.flag("authorization_response_iss_parameter_supported")
        requirePushedAuthorizationRequests = try reader.flag("require_pushed_authorization_requests")
        tlsClientCertificateBoundAccessTokens = try reader.flag("tls_client_certificate_bound_access_tokens")
        mtlsEndpointAliases = try reader.endpoints("mtls_endpoint_aliases", &unread)
        clientIDMetadataDocumentSupported = try reader.flag("client_id_metadata_document_supported")
        unreadMembers = unread
    }

    /// What a body is that is no document, in a sentence; nil for one that is too long.
    private static func stranger(_ body: [UInt8]) -> String? {
        if body.count > ReplyRules.maximumBodyBytes { return nil }
        if body.allSatisfy({ $0 <= 0x20 }) { return "the server's answer is empty" }
        return body.isWebPage
            ? "the server answered with a web page (HTML) instead of metadata"
            : "the server's answer is not a valid JSON object"
    }
}

private struct MetadataReader {
    let object: JSONObject
    let allowsInsecureLoopback: Bool

    /// An optional endpoint: an unreadable value is ignored. An insecure address still fails.
    func endpoint(_ member: String, _ unread: inout [String]) throws(DiscoveryError) -> EndpointURL? {
        do throws(DiscoveryError) { return try endpoint(member) } catch {
            guard error.code == .malformed else { throw error }
            unread.append(member)
            return nil
        }
    }

    func endpoint(_ member: String) throws(DiscoveryError) -> EndpointURL? {
        switch object[member] {
        case nil, .null?, .string("")?: return nil
        case .string(let text)?:
            do {
                return try EndpointURL(text, allowsInsecureLoopback: allowsInsecureLoopback)
            } catch {
                let url = try? RawURL(text)
                guard error.code == .insecure else {
                    throw fault(member, url?.hasFragment == true ? "has a fragment" : "is not a valid absolute URL")
                }
                throw DiscoveryError(.insecureEndpoint, member: member, named: url?.origin)
            }
        default: throw fault(member, "is not text")
        }
    }

    /// Endpoint addresses by name. Other members are ignored.
    func endpoints(_ member: String, _ unread: inout [String]) throws(DiscoveryError) -> [String: EndpointURL] {
        switch object[member] {
        case nil, .null?: return [:]
        case .object(let members)?:
            let inner = MetadataReader(object: members, allowsInsecureLoopback: allowsInsecureLoopback)
            var found: [String: EndpointURL] = [:]
            for name in members.names where name.hasSuffix("_endpoint") {
                do throws(DiscoveryError) {
                    found[name] = try inner.endpoint(name)
                } catch {
                    throw DiscoveryError(error.code, member: member, named: error.named, finding: error.finding)
                }
            }
            return found
        default:
            unread.append(member)
            return [:]
        }
    }

    /// A single text counts as a list of one. Any other value is treated as missing.
    func list(_ member: String, _ unread: inout [String]) -> [String]? {
        guard let value = object[member] else { return nil }
        switch ReplyField(value) {
        case .list(let texts): return texts
        case .absent: return nil
        case .text(let text):
            unread.append(member)
            return [text]
        default:
            unread.append(member)
            return nil
        }
    }

    func flag(_ member: String) throws(DiscoveryError) -> Bool {
        switch object[member] {
        case nil, .null?: return false
        case .bool(let flag)?: return flag
        default: throw fault(member, "is neither true nor false")
        }
    }

    func fault(_ member: String, _ words: String) -> DiscoveryError {
        var words = words
        if case .ambiguous? = object[member], object.names.count(where: { $0 == member }) > 1 {
            words = "is given more than once, with different values"
        }
        return DiscoveryError(.malformed, member: member, finding: "the metadata document's \(member) \(words)")
    }
}
