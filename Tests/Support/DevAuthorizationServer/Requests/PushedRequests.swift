import Synchronization

/// Authorization requests that were pushed and wait for their browser (RFC 9126).
final class PushedRequests: Sendable {
    static let prefix = "urn:ietf:params:oauth:request_uri:"

    private struct Waiting {
        let request: AuthorizationRequest
        let expiresAt: Moment
    }

    private let waiting = Mutex<[String: Waiting]>([:])

    /// The `request_uri`.
    func add(_ request: AuthorizationRequest, until expiresAt: Moment, at now: Moment) -> String {
        let uri = Self.prefix + SecretSource.random(length: 43)
        waiting.withLock { waiting in
            waiting = waiting.filter { $0.value.expiresAt > now }
            waiting[uri] = Waiting(request: request, expiresAt: expiresAt)
        }
        return uri
    }

    /// A request for the client that pushed it, once.
    func take(_ uri: String, client: String, at now: Moment) throws(OAuthError) -> AuthorizationRequest {
        let found = waiting.withLock { waiting -> Waiting? in
            guard waiting[uri]?.request.client.id == client else { return nil }
            return waiting.removeValue(forKey: uri)
        }
        guard let found else { throw Self.refused("unknown request_uri") }
        guard found.expiresAt > now else { throw Self.refused("expired request_uri") }
        return found.request
    }

    private static func refused(_ reason: String) -> OAuthError {
        OAuthError(
            "invalid_request_uri", "This request is not known, was used before, or has expired.", reason: reason)
    }
}
