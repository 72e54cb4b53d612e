import NIOCore

/// Closes a connection that delivers more than any honest reply needs.
final class ConnectionByteLimit: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var remaining: Int

    init(_ limit: Int) {
        remaining = limit
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard remaining >= 0 else { return }
        remaining -= unwrapInboundIn(data).readableBytes
        if remaining < 0 {
            context.fireErrorCaught(ReplyRefused.tooLarge)
            context.close(promise: nil)
        } else {
            context.fireChannelRead(data)
        }
    }
}
