import NIOCore
import NIOHTTP1

/// One connection to the listener: one request in limited time, one response, then it closes.
final class RedirectConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum Progress {
        case reading
        case read(HTTPRequestHead)
        case answered
    }

    private static let maximumBodyBytes = 65_536

    private let exchange: RedirectExchange
    private let users: Set<UInt32>?
    private let requestTime: TimeAmount
    private var progress = Progress.reading
    private var bodyBytes = 0
    private var deadline: Scheduled<Void>?

    init(_ exchange: RedirectExchange, users: Set<UInt32>?, requestTime: TimeAmount) {
        self.exchange = exchange
        self.users = users
        self.requestTime = requestTime
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        // For the whole request, not between its bytes: a client that sends one byte a second gets no more time.
        deadline = context.eventLoop.scheduleTask(in: requestTime) { channel.close(promise: nil) }
    }

    func channelActive(context: ChannelHandlerContext) {
        guard let users else { return }
        guard let client = context.channel.remoteAddress, let own = context.channel.localAddress,
            LoopbackPeer.isOne(of: users, client, to: own)
        else {
            // Another user of this machine gets no answer and takes no connection slot.
            context.close(promise: nil)
            return
        }
        context.fireChannelActive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), progress) {
        case (.head(let head), .reading):
            progress = .read(head)
        case (.body(let bytes), .read):
            bodyBytes += bytes.readableBytes
            if bodyBytes > Self.maximumBodyBytes { context.close(promise: nil) }
        case (.end, .read(let head)):
            progress = .answered
            answer(head, context)
        default:
            break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        exchange.hears(context.channel)
        switch exchange.receive(head) {
        case .page(let page):
            respond(page, to: head, context, then: nil)
        case .start(let url):
            write(.seeOther, RedirectPage.sendOn(to: url), nil, context, then: nil)
        case .accept:
            write(.seeOther, RedirectPage.sendOn(to: exchange.resultPath), nil, context, then: nil)
        case .result:
            // The log-in may take longer to end than a request may take to arrive.
            deadline?.cancel()
            exchange.outcome.hop(to: context.eventLoop).assumeIsolated().whenSuccess { page in
                self.respond(page, to: head, context, then: self.exchange.delivered)
            }
        }
    }

    private func respond(
        _ page: RedirectPage, to head: HTTPRequestHead, _ context: ChannelHandlerContext,
        then done: (@Sendable () -> Void)?
    ) {
        let (headers, text) = page.response(styleNonce: RedirectExchange.randomText())
        let body = head.method == .HEAD ? nil : context.channel.allocator.buffer(string: text)
        write(HTTPResponseStatus(statusCode: page.status), headers, body, context, then: done)
    }

    private func write(
        _ status: HTTPResponseStatus, _ headers: HTTPHeaders, _ body: ByteBuffer?, _ context: ChannelHandlerContext,
        then done: (@Sendable () -> Void)?
    ) {
        guard context.channel.isActive else { return }
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if let body { context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
        let channel = context.channel
        let written = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
        written.futureResult.whenComplete { _ in
            done?()
            channel.close(promise: nil)
        }
    }
}
