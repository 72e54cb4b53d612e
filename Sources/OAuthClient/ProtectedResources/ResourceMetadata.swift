/// What a protected resource says of itself (RFC 9728 §2).
package struct ResourceMetadata: Hashable, Sendable {
    package let resource: ResourceIdentifier
    /// The resource as the document spells it: for this name tokens are asked for.
    package let name: String
    /// The authorization servers that give tokens for it, in its order; at least one. Those that nobody could ask are left out.
    package let authorizationServers: [Issuer]
    package let scopesSupported: [String]
    /// Whether it takes only tokens that are bound to a DPoP key.
    package let requiresDPoP: Bool

    private static let mostServers = 16

    /// - Parameters:
    ///   - document: The body of the reply.
    ///   - expected: The names that the document may give to the resource (RFC 9728 §3.3).
    /// - Throws: ``ResourceError``.
    package init(
        parsing document: [UInt8], expected: [ResourceIdentifier], allowsInsecureLoopback: Bool
    ) throws(ResourceError) {
        guard let object = try? JSONObject(document: document) else { throw ResourceError(.malformed) }
        guard case .string(let named)? = object["resource"] else { throw ResourceError(.nameless) }
        guard let resource = try? ResourceIdentifier(named, allowsInsecureLoopback: allowsInsecureLoopback),
            expected.contains(resource)
        else { throw ResourceError(.otherResource, named) }
        self.resource = resource
        name = named
        guard case .list(let servers)? = object["authorization_servers"].map({ ReplyField($0) }), !servers.isEmpty
        else {
            throw ResourceError(.noServer)
        }
        let issuers = servers.prefix(Self.mostServers).compactMap { server in
            try? Issuer(server, allowsInsecureLoopback: allowsInsecureLoopback)
        }
        guard !issuers.isEmpty else { throw ResourceError(.malformed, "authorization_servers") }
        authorizationServers = issuers
        // A scope that could not be asked for is none.
        scopesSupported =
            if case .list(let scopes)? = object["scopes_supported"].map({ ReplyField($0) }) {
                scopes.filter { (try? Scope($0))?.tokens.count == 1 }
            } else { [] }
        if case .list(let methods)? = object["bearer_methods_supported"].map({ ReplyField($0) }),
            !methods.isEmpty, !methods.contains("header")
        {
            throw ResourceError(.noHeader)
        }
        switch object["dpop_bound_access_tokens_required"] {
        case nil, .null?, .bool(false)?: requiresDPoP = false
        case .bool(true)?: requiresDPoP = true
        default: throw ResourceError(.malformed, "dpop_bound_access_tokens_required")
        }
    }
}

/// Why a resource does not say where to log in.
package struct ResourceError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        case unreachable
        /// It has no metadata document.
        case notFound
        case redirected
        case tooLong
        case malformed
        /// The document does not say which resource it is about.
        case nameless
        /// The document is about another resource (RFC 9728 §3.3).
        case otherResource
        /// The document names no authorization server.
        case noServer
        /// It takes tokens only in places that show them to others.
        case noHeader
        /// The reply names a document that is not at an `https` URL.
        case insecure
    }

    package let code: Code
    /// A member, or what the document names: untrusted, printable and short.
    package let detail: String?
    package let transportError: HTTPTransportError?
    package let status: Int?

    init(_ code: Code, _ detail: String? = nil, transportError: HTTPTransportError? = nil, status: Int? = nil) {
        self.code = code
        self.detail = detail.map { text in
            String(decoding: text.utf8.prefix(200).filter { (0x21...0x7E).contains($0) }, as: UTF8.self)
        }
        self.transportError = transportError
        self.status = status
    }

    package var description: String {
        let words =
            switch code {
            case .unreachable: "the resource cannot be reached"
            case .notFound: "the resource does not say where to log in (RFC 9728)"
            case .redirected: "the resource's metadata is a redirect, which is not followed"
            case .tooLong: "the resource's metadata is too long"
            case .malformed: "the resource's metadata cannot be read"
            case .nameless: "the resource's metadata does not name the resource (RFC 9728)"
            case .otherResource: "the metadata that was found is that of another resource"
            case .noServer: "the resource's metadata names no authorization server"
            case .noHeader: "the resource takes tokens only in addresses or forms, where others can read them"
            case .insecure: "the resource's metadata is not at an https address"
            }
        let more = detail ?? transportError?.description ?? status.map { "HTTP \($0)" }
        return more.map { "\(words): \($0)" } ?? words
    }
}
