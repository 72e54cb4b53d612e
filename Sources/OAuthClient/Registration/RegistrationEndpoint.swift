import HTTPTypes

/// The result of a request about a client's registration.
package enum RegistrationOutcome: Sendable {
    case registered(ClientInformation)
    /// The registration was deleted (RFC 7592 §2.3).
    case deleted
    /// The server refused. Nothing was changed.
    case refused(ProviderAnswer)
    /// The registration does not exist, or its token is no longer valid (RFC 7592 §2).
    case unauthorized(ProviderAnswer)
    /// Nothing was sent.
    case notSent(HTTPTransportError.Code)
    /// The server may have acted on the request, but there is no usable reply, and its content is lost.
    case lost(HTTPTransportError?, ProviderAnswer?)
}

/// Registers clients, and manages registrations (RFC 7591, RFC 7592). Each request is sent once: a repeat would
/// register a second client, or use a token that the first request replaced.
package struct RegistrationEndpoint: Sendable {
    private let transport: any HTTPTransport
    private let limits: HTTPLimits

    package init(transport: any HTTPTransport, limits: HTTPLimits = .tokenEndpoint) {
        self.transport = transport
        self.limits = limits
    }

    /// - Parameter token: An initial access token, where registration is restricted (RFC 7591 §3).
    package func register(
        _ metadata: ClientMetadata, at endpoint: EndpointURL, token: AccessToken?
    ) async -> RegistrationOutcome {
        await send(.post, endpoint, token, Self.text(metadata.members), known: nil)
    }

    package func read(_ management: RegistrationManagement) async -> RegistrationOutcome {
        await send(.get, management.uri, management.token, nil, known: management)
    }

    /// Updates the registration: these members replace registered ones of the same name (RFC 7592 §2.2).
    package func update(
        _ client: ClientInformation, _ changes: [(name: String, json: String)], _ management: RegistrationManagement
    ) async -> RegistrationOutcome {
        var members = changes
        // §2.2: omitted members may count as deleted, and these must not be sent.
        let fixed: Set<String> = [
            "registration_access_token", "registration_client_uri", "client_secret_expires_at", "client_id_issued_at",
        ]
        let known = Set(members.map(\.name))
        for name in client.document.names where !known.contains(name) && !fixed.contains(name) {
            if let json = client.document.text(of: name) { members.append((name, json)) }
        }
        return await send(.put, management.uri, management.token, Self.text(members), known: management)
    }

    package func delete(_ management: RegistrationManagement) async -> RegistrationOutcome {
        await send(.delete, management.uri, management.token, nil, known: management)
    }

    private static func text(_ members: [(name: String, json: String)]) -> String {
        "{" + members.map { JSONText.quote($0.name) + ":" + $0.json }.joined(separator: ",") + "}"
    }

    private func send(
        _ method: HTTPRequest.Method, _ endpoint: EndpointURL, _ token: AccessToken?, _ body: String?,
        known: RegistrationManagement?
    ) async -> RegistrationOutcome {
        guard !Task.isCancelled else { return .notSent(.cancelled) }
        var fields = HTTPFields()
        fields[.accept] = "application/json"
        if body != nil { fields[.contentType] = "application/json" }
        if let token { fields[.authorization] = "Bearer \(token.reveal())" }
        let request = HTTPRequest(
            method: method, scheme: endpoint.scheme, authority: endpoint.authority, path: endpoint.requestTarget,
            headerFields: fields)
        let form = FormRequest(request, body: Array((body ?? "").utf8))
        switch await transport.sendToTheEnd(form, limits: limits, showing: nil) {
        case .failure(let error) where error.phase == .notSent: return .notSent(error.code)
        case .failure(let error): return .lost(error, nil)
        case .reply(let reply): return Self.outcome(reply, method, known, hiding: token)
        }
    }

    private static func outcome(
        _ reply: HTTPReply, _ method: HTTPRequest.Method, _ known: RegistrationManagement?, hiding token: AccessToken?
    ) -> RegistrationOutcome {
        let status = reply.response.status.code
        if method == .delete, status == 204 || status == 200 { return .deleted }
        if (200...299).contains(status), let client = ClientInformation(reply.body, known: known) {
            return .registered(client)
        }
        let body = ReplyBody(reply, format: .json)
        let error: OAuthErrorCode? = if case .code(let code) = ReplyError(body, .rfc) { code } else { nil }
        let answer = ProviderAnswer(
            status: status, error: error, message: body["error_description"].text.map(ServerMessage.init),
            hiding: [token?.reveal()].compactMap(\.self))
        switch status {
        case 401, 403: return .unauthorized(answer)
        // §2.3: a server may answer this way for a client that it does not know.
        case 404 where known != nil: return .unauthorized(answer)
        case 400...499: return .refused(answer)
        // An unreadable 2xx, or a failure that leaves the state unknown.
        default: return .lost(nil, answer)
        }
    }
}
