import NIOCore

/// Closes a connection that delivers more than any honest reply needs, either before its head is complete or in total.
final class ConnectionByteLimit: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let most: Int
    private let mostOfHead: Int
    private var delivered = 0
    private var isPastHead = false
    private var isRefused = false

    /// - Parameters:
    ///   - most: bytes that the connection may deliver, its handshake included.
    ///   - mostOfHead: bytes before the end of the reply's head. The parser bounds header fields, but not the status
    ///     line.
    init(_ most: Int, mostOfHead: Int) {
        self.most = most
        self.mostOfHead = mostOfHead
    }

    /// Notes that the reply's head is complete.
    func headArrived() { isPastHead = true }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Bytes that were read before the connection closed still arrive.
        if isRefused { return }
        delivered += unwrapInboundIn(data).readableBytes
        // Only the parser, which comes later, knows whether the head ends in these bytes; the bytes before them did not
        // complete it.
        if delivered > most || (!isPastHead && delivered > mostOfHead) {
            isRefused = true
            context.fireErrorCaught(ReplyRefused.tooLarge)
            context.close(promise: nil)
        } else {
            context.fireChannelRead(data)
        }
    }
}
