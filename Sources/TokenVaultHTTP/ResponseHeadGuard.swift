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

    private var informationalHeads = 0
    private var isRefused = false

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
        if (100..<200).contains(status) { informationalHeads += 1 }
        return status >= 100 && informationalHeads <= Self.mostInformationalHeads
    }
}
