import HTTPTypes
import NIOCore
import NIOHTTP1

/// Keeps the facts of a request's head that later handlers do not see, and answers a request that cannot be parsed with a
/// problem document.
final class HeadReader: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// How long a client that sends what is no HTTP may go on, so that it reads the answer.
    private static let patience = TimeAmount.seconds(1)
    private let connection: Connection
    private var isMalformed = false

    init(_ connection: Connection) { self.connection = connection }

    struct Facts: Sendable {
        /// By the version, and by `Connection` (RFC 9112 §9.3).
        var keepsAlive = true
        /// Whether the target is a path, and the host is named once at most (RFC 9112 §3.2).
        var isPlain = true
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data) {
            connection.note(
                Facts(
                    keepsAlive: head.isKeepAlive,
                    isPlain: head.uri.hasPrefix("/") && head.headers["Host"].count <= 1))
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // More of the same bytes makes further errors.
        if error is HTTPParserError { isMalformed = true }
        let connection = connection
        context.eventLoop.scheduleTask(in: Self.patience) { connection.close() }
        context.fireErrorCaught(error)
    }

    /// Replaces the empty reply with which Hummingbird answers a request that is not HTTP.
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard isMalformed, case .head(var head) = unwrapOutboundIn(data), head.status == .badRequest,
            head.headers["Content-Length"] == ["0"]
        else { return context.write(data, promise: promise) }
        isMalformed = false
        let reply = Problem.malformed.reply
        guard case .text(let text) = reply.body else { return context.write(data, promise: promise) }
        for field in reply.head.headerFields {
            head.headers.replaceOrAdd(name: field.name.rawName, value: field.value)
        }
        context.write(wrapOutboundOut(.head(head)), promise: promise)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
    }
}

extension Problem {
    fileprivate static let malformed = Problem.invalid(
        "this is no request of HTTP/1.1, or its head is too long",
        hint: "a client speaks HTTP/1.1 at the socket, without TLS")
}
