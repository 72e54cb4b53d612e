import HTTPTypes

/// A client's metadata at the URL that is the client's id. Authorization servers fetch it from there, and the client is
/// registered nowhere (draft-ietf-oauth-client-id-metadata-document-01).
package struct ClientMetadataDocument: Sendable {
    /// What a server sees differently from what this client is.
    package struct Difference: Hashable, Sendable {
        /// The member of the document; nil: it is about the document as a whole.
        package let member: String?
        /// For the end of a sentence about the document.
        package let words: String

        init(_ member: String?, _ words: String) { (self.member, self.words) = (member, words) }
    }

    /// Servers need not read longer documents.
    static let longest = 5_000

    package let clientID: ClientID
    package let url: EndpointURL
    private let metadata: ClientMetadata

    /// Nil if the id is not a URL that can have a document: `https`, with a path, without dot segments, fragment and user.
    package init?(clientID: ClientID, _ metadata: ClientMetadata, allowsInsecureLoopback: Bool = false) {
        guard let url = try? EndpointURL(clientID.rawValue, allowsInsecureLoopback: allowsInsecureLoopback) else {
            return nil
        }
        let path = url.requestTarget.prefix { $0 != "?" }
        guard path != "/", !path.isEmpty, !path.split(separator: "/").contains(where: { $0 == "." || $0 == ".." })
        else { return nil }
        (self.clientID, self.url, self.metadata) = (clientID, url, metadata)
    }

    /// The document, for a person to read, too.
    package var text: String {
        let members = [(name: "client_id", json: JSONText.quote(clientID.rawValue))] + metadata.members
        let lines = members.map { "  \(JSONText.quote($0.name)): \($0.json)" }
        return "{\n\(lines.joined(separator: ",\n"))\n}\n"
    }

    /// Fetches what is served at the URL, as an authorization server does, and compares.
    ///
    /// - Throws: if the host cannot be reached.
    package func differencesAtURL(
        over transport: any HTTPTransport
    ) async throws(HTTPTransportError) -> [Difference] {
        let request = HTTPRequest(
            method: .get, scheme: url.scheme, authority: url.authority, path: url.requestTarget,
            headerFields: [.accept: "application/json"])
        let reply: HTTPReply
        do throws(HTTPTransportError) {
            reply = try await transport.exchange(
                request, body: [], limits: HTTPLimits(bodyBytes: 262_144, timeout: .seconds(10)))
        } catch {
            guard error.code == .tooLarge else { throw error }
            return [Self.tooLong]
        }
        let status = reply.response.status
        guard status == .ok else {
            return [
                Difference(
                    nil,
                    (300..<400).contains(status.code)
                        ? "is a redirect (\(status.code)), which no server follows" : "is answered with \(status.code)")
            ]
        }
        var found = differences(in: reply.body)
        let type = (reply.response.headerFields[.contentType] ?? "").prefix { $0 != ";" }.lowercased()
        if type != "application/json", !(type.hasPrefix("application/") && type.hasSuffix("+json")) {
            found.append(Difference(nil, "is not served as application/json"))
        }
        return found
    }

    private static let tooLong = Difference(nil, "is longer than \(longest) bytes")

    /// What is different in a document.
    package func differences(in served: [UInt8]) -> [Difference] {
        guard served.count <= Self.longest else { return [Self.tooLong] }
        guard let object = try? JSONObject(document: served) else { return [Difference(nil, "is not a JSON object")] }
        var found: [Difference] = []
        if object.text("client_id") != clientID.rawValue {
            found.append(Difference("client_id", "is not this URL, letter by letter"))
        }
        for member in ["client_secret", "client_secret_expires_at"] where object[member] != nil {
            found.append(Difference(member, "is in a document that everyone can read"))
        }
        let method = object.text("token_endpoint_auth_method") ?? "client_secret_basic"
        if method != metadata.tokenEndpointAuthMethod {
            found.append(
                Difference(
                    "token_endpoint_auth_method",
                    "is \(method), but the client authenticates with \(metadata.tokenEndpointAuthMethod)"))
        }
        if let algorithm = metadata.tokenEndpointAuthSigningAlg,
            object.text("token_endpoint_auth_signing_alg") != algorithm
        {
            found.append(
                Difference("token_endpoint_auth_signing_alg", "is not \(algorithm), by which the client signs"))
        }
        found += missing(
            metadata.redirectURIs.map(\.rawValue), in: object.texts("redirect_uris") ?? [], of: "redirect_uris")
        found += missing(
            metadata.grantTypes, in: object.texts("grant_types") ?? ["authorization_code"], of: "grant_types")
        found += missing(
            metadata.responseTypes, in: object.texts("response_types") ?? ["code"], of: "response_types")
        if let scope = object.text("scope"), let wanted = metadata.scope {
            found += missing(wanted.tokens, in: scope.split(separator: " ").map(String.init), of: "scope")
        }
        if case .bool(true)? = object["dpop_bound_access_tokens"] {
            if !metadata.dpopBoundAccessTokens {
                found.append(
                    Difference("dpop_bound_access_tokens", "is true, but not every log-in is bound to a DPoP key"))
            }
        } else if metadata.dpopBoundAccessTokens {
            found.append(Difference("dpop_bound_access_tokens", "is not true, but every log-in is bound to a DPoP key"))
        }
        return found + missingKeys(in: object)
    }

    private func missing(_ wanted: [String], in served: [String], of member: String) -> [Difference] {
        wanted.filter { !served.contains($0) }.map { Difference(member, "lacks \($0)") }
    }

    /// Keys of the client that a server would not find.
    private func missingKeys(in object: JSONObject) -> [Difference] {
        guard let jwks = metadata.jwks else { return [] }
        guard case .object(let set)? = object["jwks"] else {
            // What is elsewhere is not looked at.
            return object["jwks_uri"] == nil ? [Difference("jwks", "lacks the client's key")] : []
        }
        let served = Self.keys(of: set)
        let own = (try? JSONObject(document: Array(jwks.utf8))).map(Self.keys) ?? []
        return own.filter { !served.contains($0) }.map { _ in Difference("jwks", "lacks the client's key") }
    }

    /// The parts of each key that make it this key (RFC 7638 §3.2), and its id.
    private static func keys(of set: JSONObject) -> [[String?]] {
        guard case .array(let keys)? = set["keys"] else { return [] }
        return keys.compactMap { key in
            guard case .object(let key) = key else { return nil }
            return ["kty", "crv", "x", "y", "n", "e", "kid"].map { key.text($0) }
        }
    }
}

extension JSONObject {
    fileprivate func text(_ name: String) -> String? {
        if case .string(let text)? = self[name] { text } else { nil }
    }

    fileprivate func texts(_ name: String) -> [String]? {
        if case .list(let texts)? = self[name].map({ ReplyField($0) }) { texts } else { nil }
    }
}
