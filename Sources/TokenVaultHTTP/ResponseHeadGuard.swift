import NIOCore
import NIOHTTP1

/// Looks at the heads of a connection's replies before AsyncHTTPClient does.
///
/// AsyncHTTPClient takes every status below 200 for an informational one, of which another head must follow, and ends the
/// process where none does, as after `HTTP/1.1 000`. So no status below 100 gets there, and no endless row of informational
/// heads either.
final class ResponseHeadGuard: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    static let mostInformationalHeads = 16

    private let onHead: () -> Void
    private var informationalHeads = 0
    private var isRefused = false

    /// - Parameter onHead: is called when the head of the reply itself has come.
    init(onHead: @escaping () -> Void = {}) {
        self.onHead = onHead
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // What the parser has read already comes even after the connection is closed.
        if isRefused { return }
        if case .head(let head) = unwrapInboundIn(data), !accepts(head.status.code) {
            isRefused = true
            context.fireErrorCaught(ReplyRefused.malformedHead)
            context.close(promise: nil)
        } else {
            context.fireChannelRead(data)
        }
    }

    private func accepts(_ status: UInt) -> Bool {
        informationalHeads = status < 200 ? informationalHeads + 1 : 0
        if status >= 200 { onHead() }
        return status >= 100 && informationalHeads <= Self.mostInformationalHeads
    }
}

extension Channel {
    /// Puts a guard between the parser of a connection's replies and AsyncHTTPClient.
    func guardResponseHeads(onHead: @escaping () -> Void = {}) throws {
        let parser = try pipeline.syncOperations.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
        try pipeline.syncOperations.addHandler(ResponseHeadGuard(onHead: onHead), position: .after(parser))
    }
}
