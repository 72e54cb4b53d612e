import NIOCore
import NIOPosix
import NIOSSL

/// The metadata document of a client whose id is its URL (draft-ietf-oauth-client-id-metadata-document-01).
///
/// Asked for by HTTP/1.0, whose replies are not chunked. Redirects are not followed.
enum ClientDocument {
    static let longest = 5_000

    /// `nil`: there is no document, it is too long, or its URL cannot be a client's id.
    static func fetch(_ url: String) async -> [UInt8]? {
        guard let place = Place(url) else { return nil }
        return try? await exchange(with: place)
    }

    private struct Place: Sendable {
        let isSecure: Bool
        let authority: String
        let host: String
        let port: Int
        let target: String

        /// Only `https`, or `http` of this machine, with a path and without dot segments, user or fragment.
        init?(_ url: String) {
            guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }),
                let separator = url.firstRange(of: "://")
            else { return nil }
            let scheme = String(url[..<separator.lowerBound])
            let rest = url[separator.upperBound...]
            isSecure = scheme == "https"
            authority = String(rest.prefix { $0 != "/" && $0 != "?" })
            target = String(rest.dropFirst(authority.count))
            let parts = authority.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            let segments = target.prefix { $0 != "?" }.split(separator: "/").map(String.init)
            guard parts.count <= 2, !parts[0].isEmpty, !authority.contains("@"), target.hasPrefix("/"),
                !segments.contains("."), !segments.contains("..")
            else { return nil }
            host = parts[0]
            guard isSecure || (scheme == "http" && host == "127.0.0.1") else { return nil }
            guard parts.count == 2 else {
                port = isSecure ? 443 : 80
                return
            }
            guard let number = Int(parts[1]), (1...65_535).contains(number) else { return nil }
            port = number
        }

        var request: String {
            "GET \(target) HTTP/1.0\r\nHost: \(authority)\r\nAccept: application/json\r\n"
                + "User-Agent: dev-authserver\r\n\r\n"
        }
    }

    private static func exchange(with place: Place) async throws -> [UInt8]? {
        var context: NIOSSLContext?
        if place.isSecure { context = try NIOSSLContext(configuration: .makeClientConfiguration()) }
        let tls = context
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.seconds(5))
            .connect(host: place.host, port: place.port) { channel in
                channel.eventLoop.makeCompletedFuture { () throws -> NIOAsyncChannel<ByteBuffer, ByteBuffer> in
                    if let tls {
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(context: tls, serverHostname: place.host))
                    }
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        let connection = channel.channel
        let deadline = connection.eventLoop.scheduleTask(in: .seconds(5)) { connection.close(promise: nil) }
        defer { deadline.cancel() }
        return try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: place.request))
            var reply: [UInt8] = []
            for try await part in inbound {
                reply.append(contentsOf: part.readableBytesView)
                // With room for the head.
                guard reply.count <= longest + 16_384 else { return nil }
                if let document = body(of: reply, isAll: false) { return document }
            }
            return body(of: reply, isAll: true)
        }
    }

    /// The body, if it is complete and the status is 200.
    private static func body(of reply: [UInt8], isAll: Bool) -> [UInt8]? {
        guard let gap = reply.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: reply[..<gap.lowerBound], as: UTF8.self).lowercased()
        let lines = head.split(separator: "\r\n").map(String.init)
        let status = (lines.first ?? "").split(separator: " ").dropFirst().first
        guard status == "200" else { return nil }
        let body = Array(reply[gap.upperBound...])
        let name = "content-length:"
        guard let field = lines.first(where: { $0.hasPrefix(name) }) else { return isAll ? body : nil }
        let digits = field.dropFirst(name.count).filter { $0 != " " }
        guard let length = Int(digits), (0...longest).contains(length), body.count >= length else { return nil }
        return Array(body.prefix(length))
    }
}
