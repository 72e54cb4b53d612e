import FoundationEssentials
import HTTPTypes
import Synchronization

extension ServerCore {
    /// RFC 7591 §3.
    func register(_ request: IncomingRequest, _ record: inout RequestRecord) throws(OAuthError) -> Reply {
        guard let policy = configuration.registration else { return .notFound }
        if let wanted = policy.initialAccessToken {
            guard let token = Self.bearer(request), constantTimeEquals(token, wanted) else {
                throw Self.badToken("wrong initial access token")
            }
        }
        let metadata = try registrationMetadata(request)
        let id = "client-" + SecretSource.random(length: 16)
        let (client, secret) = try self.client(id, metadata, secret: nil)
        let registration = ClientRegistry.Registration(
            metadata: metadata, token: "reg_" + configuration.secretMarker + SecretSource.random(length: 43),
            secret: secret)
        clients.registry.put(client, registration)
        record.client = id
        return document(of: client, registration, status: .created)
    }

    /// Learns of a client whose id is the URL of its metadata, when it is first named. A document that is not good is as if
    /// there were none.
    func takeClientDocument(of request: IncomingRequest) async {
        guard let fetch = configuration.fetchClientDocument,
            let id = request.query.flatMap({ try? FormParameters(parsing: $0) })?["client_id"]
                ?? (try? request.form())?["client_id"],
            id.hasPrefix("https://") || id.hasPrefix("http://127.0.0.1"), clients.client(id) == nil,
            let bytes = await fetch(id), bytes.count <= 5_000, case .object(let metadata) = JSONValue.parse(bytes),
            metadata["client_id"]?.string == id, metadata["client_secret"] == nil,
            let (client, secret) = try? self.client(id, metadata, secret: nil), secret == nil
        else { return }
        clients.registry.put(
            client, ClientRegistry.Registration(metadata: metadata, token: SecretSource.random(length: 43)))
    }

    /// RFC 7592 §2.
    func manageRegistration(_ request: IncomingRequest, _ record: inout RequestRecord) throws(OAuthError) -> Reply {
        guard let policy = configuration.registration else { return .notFound }
        let id = String(request.path.dropFirst("/register/".count))
        record.client = id
        guard let token = Self.bearer(request), let client = clients.client(id),
            var registration = clients.registry.registration(id, token: token)
        else { throw Self.badToken("wrong registration token") }
        switch request.method {
        case .get: break
        case .put:
            let metadata = try registrationMetadata(request)
            guard metadata["client_id"]?.string == id else {
                throw .invalidRequest("client_id is not that of the registration", reason: "wrong client_id")
            }
            if let secret = metadata["client_secret"]?.string, secret != registration.secret {
                throw .invalidRequest("client_secret is not the client's", reason: "wrong client_secret")
            }
            let fixed = ["registration_access_token", "registration_client_uri", "client_id_issued_at"]
            guard fixed.allSatisfy({ metadata[$0] == nil }) else {
                throw .invalidRequest("the server's own members are not the client's to set", reason: "fixed member")
            }
            let secret = policy.replacesSecrets ? nil : registration.secret
            let (changed, newSecret) = try self.client(id, metadata, secret: secret)
            registration.metadata = metadata
            registration.secret = newSecret
            rotate(&registration, policy)
            clients.registry.put(changed, registration)
            return document(of: changed, registration, status: .ok)
        case .delete:
            clients.registry.remove(id)
            _ = endGrants { $0.client == id }
            return Reply(.noContent).uncached
        default: return .methodNotAllowed("GET, PUT, DELETE")
        }
        rotate(&registration, policy)
        clients.registry.put(client, registration)
        return document(of: client, registration, status: .ok)
    }

    private func rotate(_ registration: inout ClientRegistry.Registration, _ policy: RegistrationPolicy) {
        guard policy.rotatesTokens else { return }
        registration.token = "reg_" + configuration.secretMarker + SecretSource.random(length: 43)
    }

    private func document(
        of client: RegisteredClient, _ registration: ClientRegistry.Registration, status: HTTPResponse.Status
    ) -> Reply {
        var members = registration.metadata
        members["client_id"] = .string(client.id)
        members["client_secret"] = registration.secret.map(JSONValue.string)
        if registration.secret != nil { members["client_secret_expires_at"] = .integer(0) }
        members["registration_access_token"] = .string(registration.token)
        members["registration_client_uri"] = .string(base + "/register/" + client.id)
        members["client_id_issued_at"] = .integer(clock.wall.seconds)
        return Reply.json(JSONValue.object(members), status: status).uncached
    }

    /// The client that the metadata describes (RFC 7591 §2).
    private func client(
        _ id: String, _ metadata: [String: JSONValue], secret known: String?
    ) throws(OAuthError) -> (RegisteredClient, secret: String?) {
        let uris = try redirectURIs(metadata)
        let method = metadata["token_endpoint_auth_method"]?.string ?? "client_secret_basic"
        let secret = known ?? "cs_" + configuration.secretMarker + SecretSource.random(length: 43)
        let authentication: RegisteredClient.Authentication
        switch method {
        case "none": authentication = .none
        case "client_secret_basic": authentication = .basic(secret: secret)
        case "client_secret_post": authentication = .post(secret: secret)
        case "private_key_jwt":
            guard let key = Self.keys(metadata).lazy.compactMap({ RegisteredKey(jwk: $0) }).first else {
                throw Self.badMetadata("no key that can be used")
            }
            authentication = .privateKeyJWT(key)
        case "self_signed_tls_client_auth" where secureBase != nil:
            let certificates = Self.keys(metadata).compactMap { RegisteredCertificate($0) }
            guard !certificates.isEmpty else { throw Self.badMetadata("no certificate that can be used") }
            authentication = .selfSignedCertificate(certificates)
        default: throw Self.badMetadata("this way to authenticate is not served")
        }
        var client = RegisteredClient(id: id, authentication: authentication, redirectURIs: uris)
        client.requiresDPoP = metadata["dpop_bound_access_tokens"] == .bool(true)
        client.bindsTokensToCertificate = metadata["tls_client_certificate_bound_access_tokens"] == .bool(true)
        client.requiresPushedRequests = metadata["require_pushed_authorization_requests"] == .bool(true)
        return (client, method.hasPrefix("client_secret") ? secret : nil)
    }

    private func redirectURIs(_ metadata: [String: JSONValue]) throws(OAuthError) -> [String] {
        guard case .array(let values)? = metadata["redirect_uris"], case let uris = values.compactMap(\.string),
            !uris.isEmpty, uris.count == values.count
        else { throw OAuthError("invalid_redirect_uri", "redirect_uris is missing", reason: "no redirect_uris") }
        guard configuration.strictness == .mcp else {
            guard uris.allSatisfy({ $0.hasPrefix("https://") || $0.hasPrefix("http://127.0.0.1") }) else {
                throw OAuthError(
                    "invalid_redirect_uri", "a redirect URI is neither https nor loopback", reason: "redirect_uri")
            }
            return uris
        }
        // A client's own document may leave it out.
        let named = metadata["application_type"]
        let types = ApplicationType.allCases.filter { named == nil || named?.string == $0.rawValue }
        guard !types.isEmpty else { throw Self.badMetadata("application_type must be web or native") }
        guard uris.allSatisfy({ uri in types.contains { $0.accepts(redirectURI: uri) } }) else {
            throw OAuthError(
                "invalid_redirect_uri", "a redirect URI does not fit the application_type", reason: "redirect_uri")
        }
        return uris
    }

    /// The keys of `jwks`, each as its own text.
    private static func keys(_ metadata: [String: JSONValue]) -> [String] {
        guard case .object(let set)? = metadata["jwks"], case .array(let keys)? = set["keys"] else { return [] }
        return keys.compactMap { key in (try? JSONEncoder().encode(key)).map { String(decoding: $0, as: UTF8.self) } }
    }

    private func registrationMetadata(_ request: IncomingRequest) throws(OAuthError) -> [String: JSONValue] {
        guard request.headers[.contentType]?.lowercased().hasPrefix("application/json") == true,
            case .object(let members)? = JSONValue.parse(request.body)
        else { throw Self.badMetadata("the body is not a JSON object") }
        guard configuration.strictness != .mcp || members["application_type"] != nil else {
            throw Self.badMetadata("application_type is missing")
        }
        return members
    }

    private static func bearer(_ request: IncomingRequest) -> String? {
        let parts = request.headers[.authorization]?.split(separator: " ") ?? []
        return parts.count == 2 && parts[0].lowercased() == "bearer" ? String(parts[1]) : nil
    }

    private static func badMetadata(_ description: String) -> OAuthError {
        OAuthError("invalid_client_metadata", description, reason: "metadata")
    }

    private static func badToken(_ reason: String) -> OAuthError {
        var error = OAuthError("invalid_token", "the token is not good for this", reason: reason, status: .unauthorized)
        error.headers[.wwwAuthenticate] = "Bearer realm=\"dev\", error=\"invalid_token\""
        return error
    }
}
