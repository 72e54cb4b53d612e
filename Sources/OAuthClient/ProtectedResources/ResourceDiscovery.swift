package import HTTPTypes

/// Finds a protected resource's metadata (RFC 9728 §3, §5.1).
package enum ResourceDiscovery {
    private static let limits = HTTPLimits(bodyBytes: 65_536, timeout: .seconds(10))

    /// What a resource's refusal says of the way to a token (RFC 9728 §5.1, RFC 6750 §3).
    package struct Challenge: Hashable, Sendable {
        /// Where its metadata is.
        package var metadata: String?
        /// The scope that the request needs.
        package var scope: Scope?

        package init() {}

        /// Of the challenges of a reply, the first ones that say it.
        package init(_ response: HTTPResponse) {
            let challenges = AuthenticationChallenge.all(in: response).filter {
                ["bearer", "dpop"].contains($0.scheme)
            }
            metadata = challenges.lazy.compactMap { $0["resource_metadata"] }.first
            scope = challenges.lazy.compactMap { $0["scope"].flatMap { try? Scope($0) } }.first
        }
    }

    /// Asks the resource without a token for its challenge: one that answers otherwise may still have metadata.
    ///
    /// - Throws: ``ResourceError`` if it cannot be reached.
    package static func challenge(
        of resource: ResourceIdentifier, transport: any HTTPTransport
    ) async throws(ResourceError) -> Challenge {
        do throws(HTTPTransportError) {
            let reply = try await get(
                resource.url, resource.url.requestTarget, "application/json, text/event-stream", transport)
            return reply.response.status == .unauthorized ? Challenge(reply.response) : Challenge()
        } catch {
            // A resource that streams without end says nothing here, and may have metadata.
            guard error.phase == .notSent else { return Challenge() }
            throw ResourceError(.unreachable, transportError: error)
        }
    }

    /// Fetches the metadata from where the challenge says, or else from the well-known places. No redirect is followed.
    ///
    /// - Throws: ``ResourceError``.
    package static func metadata(
        of resource: ResourceIdentifier, _ challenge: Challenge, transport: any HTTPTransport,
        allowsInsecureLoopback: Bool
    ) async throws(ResourceError) -> ResourceMetadata {
        if let place = challenge.metadata {
            guard let url = try? EndpointURL(place, allowsInsecureLoopback: allowsInsecureLoopback) else {
                throw ResourceError(.insecure, place)
            }
            // A request may go below the resource that answers it.
            let expected = [resource] + (resource.owner(ofPlace: url).map { [$0] } ?? [])
            return try ResourceMetadata(
                parsing: try await document(at: url.url, url.requestTarget, transport), expected: expected,
                allowsInsecureLoopback: allowsInsecureLoopback)
        }
        guard let places = try? resource.metadataPlaces else { throw ResourceError(.malformed) }
        var missing = ResourceError(.notFound)
        for (named, target) in places {
            do throws(ResourceError) {
                return try ResourceMetadata(
                    parsing: try await document(at: resource.url, target, transport), expected: [resource, named],
                    allowsInsecureLoopback: allowsInsecureLoopback)
            } catch {
                guard error.code == .notFound else { throw error }
                missing = error
            }
        }
        throw missing
    }

    private static func get(
        _ url: RawURL, _ target: String, _ accept: String, _ transport: any HTTPTransport
    ) async throws(HTTPTransportError) -> HTTPReply {
        let request = HTTPRequest(
            method: .get, scheme: url.scheme, authority: url.authority, path: target, headerFields: [.accept: accept])
        return try await transport.exchange(request, body: [], limits: limits)
    }

    private static func document(
        at url: RawURL, _ target: String, _ transport: any HTTPTransport
    ) async throws(ResourceError) -> [UInt8] {
        let reply: HTTPReply
        do throws(HTTPTransportError) {
            reply = try await get(url, target, "application/json", transport)
        } catch {
            throw error.code == .tooLarge ? ResourceError(.tooLong) : ResourceError(.unreachable, transportError: error)
        }
        let status = reply.response.status
        switch status.code {
        case 200: return reply.body
        case 300..<400: throw ResourceError(.redirected, reply.response.headerFields[.location])
        // What cannot answer now may have a document that says something else.
        case 429, 500...599: throw ResourceError(.unreachable, status: status.code)
        default: throw ResourceError(.notFound, status: status.code)
        }
    }
}
