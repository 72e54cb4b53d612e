import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1
import OAuthClient
import TokenVault

/// How authorized requests reach APIs: over connections that are kept open, or by a transport of the app.
struct ResourceNetwork: Sendable {
    private enum Way {
        case connections(CertificateClients)
        case transport(any HTTPTransport)
    }

    /// The longest reply of a transport, which reads all of it before the caller can set a limit.
    static let mostOfTransport = 16 << 20

    private let way: Way
    private let options: AuthorizingClient.Options

    init(_ options: AuthorizingClient.Options, _ transport: (any HTTPTransport)?) {
        self.options = options
        way =
            if let transport { .transport(transport) } else {
                .connections(CertificateClients { try .resources(options, $0) })
            }
    }

    /// Closes the connections that it has opened itself.
    func shutDown() async {
        if case .connections(let clients) = way { await clients.shutDown() }
    }

    /// - Throws: `HTTPTransportError` if there is no reply; `CancellationError`; errors of a streamed body; `VaultError`
    ///   if the certificate that a token is bound to cannot be read.
    func exchange(
        _ authorized: AuthorizedRequest, _ body: RequestBody, _ token: SentToken
    ) async throws -> ResourceResponse {
        var request = authorized.request
        if request.headerFields[.userAgent] == nil { request.headerFields[.userAgent] = options.userAgent }
        // A token that is bound to a certificate is sent together with it, or not at all.
        let certificate = try await authorized.certificate()
        let isPlain = request.scheme?.lowercased() == "http"
        guard certificate == nil || !isPlain else { throw HTTPTransportError(.notSent, .refused) }
        switch way {
        case .transport(let transport):
            return try await exchange(request, body, token, certificate, by: transport)
        case .connections(let clients):
            let lease = try clients.lease(.init(certificate: certificate, isDirect: isPlain && options.proxy != nil))
            do {
                let response = try await lease.client.execute(
                    Self.outgoing(request, body), deadline: .now() + TimeAmount(options.timeout))
                return try ResourceResponse(response, token: token, lease)
            } catch {
                throw HTTPTransportError.ofResource(error)
            }
        }
    }

    private func exchange(
        _ request: HTTPRequest, _ body: RequestBody, _ token: SentToken, _ certificate: ClientCertificate?,
        by transport: any HTTPTransport
    ) async throws -> ResourceResponse {
        let limits = HTTPLimits(
            bodyBytes: Self.mostOfTransport, connectTimeout: options.connectTimeout, timeout: options.timeout)
        let bytes = try await body.collected()
        do throws(HTTPTransportError) {
            let reply = try await transport.send(request, body: bytes, limits: limits, showing: certificate)
            return ResourceResponse(reply, token: token)
        } catch {
            if error.code == .cancelled { throw CancellationError() }
            throw error
        }
    }

    private static func outgoing(_ request: HTTPRequest, _ body: RequestBody) -> HTTPClientRequest {
        var outgoing = HTTPClientRequest(
            url: "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "/")")
        outgoing.method = HTTPMethod(rawValue: request.method.rawValue)
        outgoing.headers = HTTPHeaders(request.headerFields.map { ($0.name.rawName, $0.value) })
        switch body {
        case .none: break
        case .bytes(let bytes), .document(let bytes, _): outgoing.body = .bytes(ByteBuffer(bytes: bytes))
        case .stream(let stream, let length): outgoing.body = streaming(stream, length: length)
        }
        return outgoing
    }

    /// Opens the existential, as the library's generic parameter requires.
    private static func streaming(
        _ stream: any AsyncSequence<[UInt8], any Error> & Sendable, length: Int64?
    ) -> HTTPClientRequest.Body {
        func open(_ stream: some AsyncSequence<[UInt8], any Error> & Sendable) -> HTTPClientRequest.Body {
            .stream(stream.map { ByteBuffer(bytes: $0) }, length: length.map { .known($0) } ?? .unknown)
        }
        return open(stream)
    }
}
