import AsyncHTTPClient
public import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
public import OAuthClient
import Platform
import Synchronization
public import TokenVault

/// A resource server's reply: its head, and a body that is read as it arrives.
public struct ResourceResponse: Sendable {
    public let head: HTTPResponse
    public private(set) var body: Body
    /// The authentication that the API requires of the user (RFC 9470); nil if none. Otherwise the reply is a 401.
    public internal(set) var stepUp: StepUpChallenge?
    /// The scope that the request needs and its token lacks (`insufficient_scope`, RFC 6750 §3.1; empty: the API does not say
    /// which); nil if none is missing. Otherwise the reply is a 403, or a 401: the user must consent, with
    /// `LogInRequest(into: .login(token.login), adding: scope)`.
    public internal(set) var missingScope: Scope?
    /// Why there was no newer token after the API rejected this one: the login has ended, say, or its provider cannot
    /// be reached. Its code says what to do about it, as if a call for the token had thrown it. Nil if the token was not
    /// rejected, or a newer one was rejected too.
    public internal(set) var renewalFailure: VaultError?
    private let sent: SentToken
    /// The login's token that the request carried; nil if it carried one of the client's own.
    public var token: VaultToken? { if case .login(let token) = sent { token } else { nil } }
    /// The token of the client itself that the request carried; nil if it carried a login's.
    public var clientToken: ClientToken? { if case .client(let token) = sent { token } else { nil } }

    init(
        _ response: HTTPClientResponse, token: SentToken, _ lease: CertificateClients.Lease
    ) throws(HTTPTransportError) {
        var fields = HTTPFields()
        for (name, value) in response.headers {
            guard let name = HTTPField.Name(name) else { throw HTTPTransportError(.maybeSent, .protocolViolation) }
            fields.append(HTTPField(name: name, value: value))
        }
        guard (100...999).contains(response.status.code) else {
            throw HTTPTransportError(.maybeSent, .protocolViolation)
        }
        head = HTTPResponse(status: .init(code: Int(response.status.code)), headerFields: fields)
        body = Body(response.body, lease)
        sent = token
    }

    /// A reply that has arrived completely.
    init(_ reply: HTTPReply, token: SentToken) {
        head = reply.response
        body = Body(reply.body.isEmpty ? [] : [reply.body], then: .end)
        sent = token
    }

    /// The whole body, unless it is long or truncated. It can still be read afterwards, unchanged.
    mutating func readAhead() async -> [UInt8]? {
        let limit = ProviderProfile.ResourceRules.longestBody
        var iterator = body.makeAsyncIterator()
        var pieces: [[UInt8]] = []
        var count = 0
        do {
            while let piece = try await iterator.next() {
                pieces.append(piece)
                count += piece.count
                guard count <= limit else {
                    body = Body(pieces, then: iterator.rest)
                    return nil
                }
            }
            body = Body(pieces, then: .end)
            return pieces.flatMap(\.self)
        } catch {
            body = Body(pieces, then: .failure(error))
            return nil
        }
    }

    /// The body, in pieces of any size. It can be read once.
    public struct Body: AsyncSequence, Sendable {
        private enum Source: Sendable {
            /// The lease keeps the connection's client open while the body may be read.
            case reply(HTTPClientResponse.Body, CertificateClients.Lease)
            case begun(BegunBody)
        }

        private let source: Source

        init(_ body: HTTPClientResponse.Body, _ lease: CertificateClients.Lease) {
            source = .reply(body, lease)
        }

        /// The pieces that were read ahead, followed by the rest.
        fileprivate init(_ pieces: [[UInt8]], then rest: sending AsyncIterator.Rest) {
            source = .begun(BegunBody(AsyncIterator(pieces: pieces[...], rest: rest)))
        }

        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate enum Rest {
                case reply(HTTPClientResponse.Body.AsyncIterator, CertificateClients.Lease)
                case failure(any Error)
                case end
            }

            fileprivate var pieces: ArraySlice<[UInt8]> = []
            fileprivate var rest: Rest

            @concurrent public mutating func next() async throws -> [UInt8]? {
                if let piece = pieces.popFirst() { return piece }
                switch rest {
                case .end: return nil
                case .failure(let error):
                    rest = .end
                    throw error
                case .reply(var iterator, let lease):
                    do {
                        let piece = try await iterator.next()
                        rest = piece == nil ? .end : .reply(iterator, lease)
                        return piece.map { Array($0.readableBytesView) }
                    } catch {
                        rest = .end
                        throw HTTPTransportError.ofResource(error)
                    }
                }
            }
        }

        public func makeAsyncIterator() -> AsyncIterator {
            switch source {
            case .reply(let body, let lease): AsyncIterator(rest: .reply(body.makeAsyncIterator(), lease))
            case .begun(let begun): begun.take()
            }
        }

        /// The whole body.
        ///
        /// - Throws: `HTTPTransportError` with the code `tooLarge` if it exceeds the limit.
        public func collect(upTo limit: Int) async throws -> [UInt8] {
            var bytes: [UInt8] = []
            for try await piece in self {
                guard piece.count <= limit - bytes.count else { throw HTTPTransportError(.maybeSent, .tooLarge) }
                bytes += piece
            }
            return bytes
        }
    }
}

/// A partly read body. The first iteration gets all of it.
private final class BegunBody: Sendable {
    private let iterator: Mutex<ResourceResponse.Body.AsyncIterator?>

    init(_ iterator: sending ResourceResponse.Body.AsyncIterator) {
        self.iterator = Mutex(iterator)
    }

    func take() -> ResourceResponse.Body.AsyncIterator {
        let taken = iterator.withLock { iterator -> sending ResourceResponse.Body.AsyncIterator? in
            let taken = iterator
            iterator = nil
            return taken
        }
        return taken ?? ResourceResponse.Body.AsyncIterator(rest: .end)
    }
}

extension HTTPTransportError {
    /// Maps errors of the network libraries to ours; errors of an app's own body stream are unchanged.
    static func ofResource(_ error: any Error) -> any Error {
        switch error {
        case is NIOConnectionError: HTTPTransportError(error, mayHaveBeenSent: false)
        case let error as HTTPClientError: ofResource(error)
        case let error as IOError where unreached.contains(SystemError(error.errnoCode)):
            HTTPTransportError(.notSent, .connect)
        case NIOSSLError.handshakeFailed, is NIOSSLExtraError: HTTPTransportError(error, mayHaveBeenSent: false)
        case is NIOSSLError, is BoringSSLError, is HTTPParserError, is ChannelError, is IOError:
            HTTPTransportError(error, mayHaveBeenSent: true)
        default: error
        }
    }

    private static let unreached: [SystemError] = [.connectionRefused, .hostUnreachable, .networkUnreachable]

    private static func ofResource(_ error: HTTPClientError) -> any Error {
        switch error {
        case .cancelled: CancellationError()
        case .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout, .alreadyShutdown:
            HTTPTransportError(error, mayHaveBeenSent: false)
        default: HTTPTransportError(error, mayHaveBeenSent: true)
        }
    }
}
