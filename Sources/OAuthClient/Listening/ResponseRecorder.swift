import FoundationEssentials
package import HTTPTypes
import Synchronization

/// A transport that forwards everything and records the replies, so that a listener is notified only when the result is
/// safe.
package final class ResponseRecorder: HTTPTransport {
    private let operation: TokenEndpointResponse.Operation
    private let base: any HTTPTransport
    private let keepsBodies: Bool
    private let now: @Sendable () -> Date
    private let announcer: ResponseAnnouncer
    private let recorded = Mutex<[TokenEndpointResponse]>([])

    init(
        _ operation: TokenEndpointResponse.Operation, over base: any HTTPTransport, keepsBodies: Bool,
        now: @escaping @Sendable () -> Date, announcer: ResponseAnnouncer
    ) {
        self.operation = operation
        self.base = base
        self.keepsBodies = keepsBodies
        self.now = now
        self.announcer = announcer
    }

    package func send(
        _ request: HTTPRequest, body: [UInt8], limits: HTTPLimits
    ) async throws(HTTPTransportError) -> HTTPReply {
        try await pass(on: request, body, limits, nil)
    }

    package func send(
        _ request: HTTPRequest, body: [UInt8], limits: HTTPLimits, showing certificate: ClientCertificate
    ) async throws(HTTPTransportError) -> HTTPReply {
        try await pass(on: request, body, limits, certificate)
    }

    private func pass(
        on request: HTTPRequest, _ body: [UInt8], _ limits: HTTPLimits, _ certificate: ClientCertificate?
    ) async throws(HTTPTransportError) -> HTTPReply {
        let startedAt = now()
        do throws(HTTPTransportError) {
            let reply = try await base.send(request, body: body, limits: limits, showing: certificate)
            record(request, .reply(reply.response), reply.body, startedAt)
            return reply
        } catch {
            // Without the received part of the reply.
            record(request, .failure(HTTPTransportError(error.phase, error.code)), nil, startedAt)
            throw error
        }
    }

    /// Notifies the listener of everything recorded since the last call.
    package func announce() {
        let responses = recorded.withLock { recorded in
            defer { recorded = [] }
            return recorded
        }
        announcer.announce(responses)
    }

    private func record(
        _ request: HTTPRequest, _ ending: TokenEndpointResponse.Ending, _ body: [UInt8]?, _ startedAt: Date
    ) {
        let path = (request.path ?? "/").prefix { $0 != "?" }
        let passed = max(0, now().timeIntervalSince(startedAt))
        let response = TokenEndpointResponse(
            operation: operation, endpoint: "\(request.scheme ?? "")://\(request.authority ?? "")\(path)",
            ending: ending, bodyLength: body?.count ?? 0, secretBody: keepsBodies ? body : nil, startedAt: startedAt,
            duration: .seconds(min(passed, 1e9)))
        recorded.withLock { $0.append(response) }
    }
}
