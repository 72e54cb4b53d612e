import AsyncHTTPClient
import Glibc
public import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix
import OAuthClient
public import TokenVault

/// A resource server's reply: its head, and a body that is read as it arrives.
public struct ResourceResponse: Sendable {
    public let head: HTTPResponse
    public private(set) var body: Body
    /// The token that the request went out with.
    public let token: VaultToken

    init(_ response: HTTPClientResponse, token: VaultToken) throws(HTTPTransportError) {
        var fields = HTTPFields()
        for (name, value) in response.headers {
            guard let name = HTTPField.Name(name) else { throw HTTPTransportError(.maybeSent, .protocolViolation) }
            fields.append(HTTPField(name: name, value: value))
        }
        guard (100...999).contains(response.status.code) else {
            throw HTTPTransportError(.maybeSent, .protocolViolation)
        }
        head = HTTPResponse(status: .init(code: Int(response.status.code)), headerFields: fields)
        body = Body(base: response.body)
        self.token = token
    }

    /// The whole body, of a reply that has stated its length. It can be read once more afterwards.
    mutating func readAhead() async throws -> [UInt8] {
        let bytes = try await body.collect(upTo: ProviderProfile.ResourceRules.longestBody)
        body = Body(base: .bytes(ByteBuffer(bytes: bytes)))
        return bytes
    }

    /// The body, in pieces of any size. It can be read once.
    public struct Body: AsyncSequence, Sendable {
        let base: HTTPClientResponse.Body

        public struct AsyncIterator: AsyncIteratorProtocol {
            var base: HTTPClientResponse.Body.AsyncIterator

            @concurrent public mutating func next() async throws -> [UInt8]? {
                do {
                    return try await base.next().map { Array($0.readableBytesView) }
                } catch {
                    throw HTTPTransportError.ofResource(error)
                }
            }
        }

        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(base: base.makeAsyncIterator())
        }

        /// The whole body.
        ///
        /// - Throws: `HTTPTransportError` with the code `tooLarge` if it has more bytes than that.
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

extension HTTPTransportError {
    /// Errors of the network libraries become ours; what an app's own body stream throws stays what it is.
    static func ofResource(_ error: any Error) -> any Error {
        switch error {
        case is NIOConnectionError: HTTPTransportError(error, mayHaveBeenSent: false)
        case let error as HTTPClientError: ofResource(error)
        case let error as IOError where [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH].contains(error.errnoCode):
            HTTPTransportError(.notSent, .connect)
        case is HTTPParserError, is ChannelError, is IOError: HTTPTransportError(error, mayHaveBeenSent: true)
        default: error
        }
    }

    private static func ofResource(_ error: HTTPClientError) -> any Error {
        switch error {
        case .cancelled: CancellationError()
        case .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout, .alreadyShutdown:
            HTTPTransportError(error, mayHaveBeenSent: false)
        default: HTTPTransportError(error, mayHaveBeenSent: true)
        }
    }
}
