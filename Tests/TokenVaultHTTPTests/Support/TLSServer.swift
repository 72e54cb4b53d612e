import Foundation
import NIOCore
import NIOEmbedded
import NIOSSL
import NIOTLS
import RawSockets

/// A server that shakes hands as TLS wants it, and for the rest does byte for byte what the test says.
final class TLSServer: Sendable {
    private let server: RawServer
    /// Trusts this server and nobody else besides the system's authorities.
    let trustFile: String

    var port: UInt16 { server.port }
    var connections: Int { server.connections }
    /// Requests that came through a finished handshake.
    var received: [String] { server.received }

    /// - Parameters:
    ///   - certificate: What it shows.
    ///   - newest: The newest version of TLS that it speaks.
    ///   - clientAuthority: Who must vouch for clients, as a certificate in PEM; nil: clients show nothing.
    ///   - behaviour: What it does on each connection.
    init(
        _ certificate: Certificate, newest: TLSVersion? = nil, clientAuthority: String? = nil,
        _ behaviour: @escaping @Sendable (TLSConnection) -> Void
    ) throws {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: Array(certificate.pem.utf8), format: .pem))],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(Certificate.privateKey.utf8), format: .pem)))
        configuration.minimumTLSVersion = .tlsv1
        configuration.maximumTLSVersion = newest
        if let clientAuthority {
            configuration.trustRoots = .certificates([
                try NIOSSLCertificate(bytes: Array(clientAuthority.utf8), format: .pem)
            ])
            configuration.certificateVerification = .noHostnameVerification
        }
        let context = try NIOSSLContext(configuration: configuration)
        server = try RawServer { connection in
            guard let secured = TLSConnection(connection, context) else { return }
            behaviour(secured)
        }
        trustFile = FileManager.default.temporaryDirectory.path + "/tls-\(UUID().uuidString).pem"
        try certificate.pem.write(toFile: trustFile, atomically: true, encoding: .utf8)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: trustFile)
    }
}

/// One connection after its handshake. Returning from the server's behaviour cuts it: TCP ends, TLS does not.
final class TLSConnection {
    private let connection: RawConnection
    private let channel: EmbeddedChannel

    /// Nil if the peer did not want to go on.
    fileprivate init?(_ connection: RawConnection, _ context: NIOSSLContext) {
        self.connection = connection
        let finished = HandshakeWatch()
        channel = EmbeddedChannel(handlers: [NIOSSLServerHandler(context: context), finished])
        do {
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            while !finished.isDone {
                guard let bytes = connection.readBytes() else { return nil }
                try channel.writeInbound(ByteBuffer(bytes: bytes))
                try flush()
            }
        } catch {
            // The alert that says why. It must not be lost in a reset, which follows where something was not read.
            try? flush()
            while connection.readBytes() != nil {}
            return nil
        }
    }

    @discardableResult
    func readRequest() -> String {
        connection.readRequest { [channel] in
            while true {
                if let plain = try? channel.readInbound(as: ByteBuffer.self) { return Array(plain.readableBytesView) }
                guard let bytes = self.connection.readBytes(),
                    (try? channel.writeInbound(ByteBuffer(bytes: bytes))) != nil, (try? self.flush()) != nil
                else { return nil }
            }
        }
    }

    func write(_ text: String) {
        _ = try? channel.writeOutbound(ByteBuffer(string: text))
        _ = try? flush()
    }

    /// Says `close_notify`, so that the end of the connection is the end of the data.
    func end() {
        channel.close(promise: nil)
        channel.embeddedEventLoop.run()
        _ = try? flush()
    }

    private func flush() throws {
        while let bytes = try channel.readOutbound(as: ByteBuffer.self) {
            connection.write(Array(bytes.readableBytesView))
        }
    }
}

private final class HandshakeWatch: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    var isDone = false

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event { isDone = true }
        context.fireUserInboundEventTriggered(event)
    }
}
