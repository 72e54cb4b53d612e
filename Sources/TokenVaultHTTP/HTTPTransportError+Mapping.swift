import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import OAuthClient

extension HTTPTransportError {
    /// The one place where errors of the network libraries become ours. Their texts stay behind: they may quote the peer.
    init(_ error: any Error, mayHaveBeenSent: Bool, received: HTTPReply? = nil) {
        self.init(
            mayHaveBeenSent ? .maybeSent : .notSent, Self.code(of: error, mayHaveBeenSent),
            received: (error as? BrokenReply)?.received ?? received)
    }

    private static func code(of error: any Error, _ mayHaveBeenSent: Bool) -> HTTPTransportError.Code {
        switch error {
        case is ReplyRefused:
            (error as? ReplyRefused) == .tooLarge ? .tooLarge : .protocolViolation
        case is CancellationError:
            .cancelled
        case let error as NIOConnectionError:
            error.connectionErrors.isEmpty ? .dns : .connect
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            mayHaveBeenSent ? .reset : .tls
        case let error as HTTPClientError:
            code(of: error, mayHaveBeenSent)
        case let error as BrokenReply:
            code(of: error.cause, mayHaveBeenSent)
        case is HTTPParserError:
            .protocolViolation
        default:
            mayHaveBeenSent ? .reset : .connect
        }
    }

    private static func code(of error: HTTPClientError, _ mayHaveBeenSent: Bool) -> HTTPTransportError.Code {
        switch error {
        case .deadlineExceeded, .readTimeout, .writeTimeout, .connectTimeout, .getConnectionFromPoolTimeout:
            .timeout
        case .tlsHandshakeTimeout:
            .tls
        case .cancelled:
            .cancelled
        case .remoteConnectionClosed:
            // Before the request, a connection that had come about can end only in its handshake.
            mayHaveBeenSent ? .reset : .tls
        case .requestStreamCancelled:
            mayHaveBeenSent ? .reset : .connect
        case .alreadyShutdown:
            .cancelled
        default:
            .protocolViolation
        }
    }
}
