import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import OAuthClient

extension HTTPTransportError {
    /// The only place that maps errors of the network libraries to ours. Their texts are dropped, because they may
    /// quote the peer.
    init(_ error: any Error, mayHaveBeenSent: Bool, received: HTTPReply? = nil) {
        let mayHaveBeenSent = mayHaveBeenSent && !(received == nil && Self.refusesCertificate(error))
        let received = (error as? BrokenReply)?.received ?? received
        let code = Self.code(of: error, mayHaveBeenSent)
        self.init(
            mayHaveBeenSent ? .maybeSent : .notSent, code == .reset && received != nil ? .truncated : code,
            received: received)
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
        case HTTPParserError.invalidEOFState:
            .truncated
        case is HTTPParserError:
            .protocolViolation
        default:
            mayHaveBeenSent ? .reset : .connect
        }
    }

    /// In TLS 1.3 a client has finished its handshake, and may have written its request, before the server checks its
    /// certificate. A server that rejects the certificate never reads the request: the keys for reading it depend on
    /// the client's last handshake message (RFC 8446 §4.4.4).
    private static func refusesCertificate(_ error: any Error) -> Bool {
        guard let error = error as? BoringSSLError, case .sslError(let stack) = error else { return false }
        let alerts = [
            "ALERT_BAD_CERTIFICATE", "ALERT_UNSUPPORTED_CERTIFICATE", "ALERT_CERTIFICATE_REVOKED",
            "ALERT_CERTIFICATE_EXPIRED", "ALERT_CERTIFICATE_UNKNOWN", "ALERT_CERTIFICATE_REQUIRED",
            "ALERT_UNKNOWN_CA", "ALERT_ACCESS_DENIED", "ALERT_DECRYPT_ERROR", "ALERT_HANDSHAKE_FAILURE",
        ]
        return stack.contains { entry in alerts.contains { entry.description.contains($0) } }
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
            // Before the request is sent, an established connection can only fail in its handshake.
            mayHaveBeenSent ? .reset : .tls
        case .requestStreamCancelled:
            mayHaveBeenSent ? .reset : .connect
        case .alreadyShutdown:
            .cancelled
        case .invalidProxyResponse, .proxyAuthenticationRequired, .httpProxyHandshakeTimeout:
            .proxy
        default:
            .protocolViolation
        }
    }
}
