import NIOCore

/// Closes a connection that delivers more than any honest reply needs: before its head is whole, and in all.
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
    ///   - mostOfHead: bytes before the end of the reply's head. The parser bounds header fields, but not the status line.
    init(_ most: Int, mostOfHead: Int) {
        self.most = most
        self.mostOfHead = mostOfHead
    }

    /// The reply's head is whole.
    func headArrived() { isPastHead = true }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // What was read before the connection closed still comes.
        if isRefused { return }
        delivered += unwrapInboundIn(data).readableBytes
        // The head that ends in these bytes is known only behind the parser; what came before them is not whole yet.
        if delivered > most || (!isPastHead && delivered > mostOfHead) {
            isRefused = true
            context.fireErrorCaught(ReplyRefused.tooLarge)
            context.close(promise: nil)
        } else {
            context.fireChannelRead(data)
        }
    }
}
