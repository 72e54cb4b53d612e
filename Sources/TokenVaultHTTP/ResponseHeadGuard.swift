import HTTPTypes
import NIOCore
import NIOHTTP1
import OAuthClient

/// Looks at a connection's replies between the parser and AsyncHTTPClient.
///
/// AsyncHTTPClient takes every status below 200 for an informational one, of which another head must follow, and ends
/// the process where none does, as after `HTTP/1.1 000`. So no status below 100 gets there, and no endless row of
/// informational heads either. It also drops what has come of a body when the parser fails; here that is kept with the
/// error.
final class ResponseHeadGuard: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    static let mostInformationalHeads = 16
    /// For so long what follows an error is waited for, if it may belong to the body.
    static let patience = TimeAmount.seconds(2)

    private let onHead: () -> Void
    /// Whether the connection is for one reply, and a ``ReplyTap`` reads it too.
    private let isTapped: Bool
    private var informationalHeads = 0
    private var isRefused = false
    private var hasHead = false
    private var bodyCount = 0
    /// The reply has ended, or has failed, as far as AsyncHTTPClient knows.
    private var isOver = false
    private var context: ChannelHandlerContext?
    /// What came, as ``ReplyTap`` has read it.
    private(set) var raw = RawReply()
    private var failure: (any Error)?

    /// - Parameter onHead: is called when the head of the reply itself has come.
    init(isTapped: Bool, onHead: @escaping () -> Void = {}) {
        self.isTapped = isTapped
        self.onHead = onHead
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // What the parser has read already comes even after the connection is closed.
        if isRefused || isOver { return }
        switch unwrapInboundIn(data) {
        case .head(let head) where !accepts(head.status.code):
            isRefused = true
            context.fireErrorCaught(ReplyRefused.malformedHead)
            context.close(promise: nil)
            return
        case .head(let head): hasHead = head.status.code >= 200
        case .body(let part): bodyCount += part.readableBytes
        // Another reply follows on a connection that is kept.
        case .end: isOver = hasHead && isTapped
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !isOver, failure == nil else { return }
        if endsWhole() { return }
        guard isTapped, error is HTTPParserError else { return context.fireErrorCaught(error) }
        failure = error
        guard !raw.isComplete else { return fail() }
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { self.fail() }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if failure != nil { fail() }
        context.fireChannelInactive()
    }

    /// False: the parser gets no more of it.
    func willRead(_ bytes: [UInt8]) -> Bool {
        if !isOver { raw.read(bytes) }
        if failure != nil, raw.isComplete { fail() }
        return failure == nil
    }

    /// The parser has read what there is.
    func hasRead() { _ = endsWhole() }

    /// A body in chunks is whole once its zero chunk has come: what follows cannot make it less (RFC 9112 §8).
    private func endsWhole() -> Bool {
        guard !isOver, !isRefused, hasHead, raw.isWholeInChunks, bodyCount == raw.bodyCount, let context else {
            return false
        }
        isOver = true
        context.fireChannelRead(wrapInboundOut(.end(nil)))
        return true
    }

    private func fail() {
        guard !isOver, let failure, let context else { return }
        isOver = true
        context.fireErrorCaught(BrokenReply(cause: failure, received: raw.reply))
        context.close(promise: nil)
    }

    private func accepts(_ status: UInt) -> Bool {
        informationalHeads = status < 200 ? informationalHeads + 1 : 0
        if status >= 200 { onHead() }
        return status >= 100 && informationalHeads <= Self.mostInformationalHeads
    }
}

/// A reply that the parser refuses, and what can still be read of it.
struct BrokenReply: Error {
    let cause: any Error
    let received: HTTPReply?
}

/// Shows what arrives to a ``ResponseHeadGuard`` before the parser reads it.
final class ReplyTap: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let guardian: ResponseHeadGuard

    init(_ guardian: ResponseHeadGuard) {
        self.guardian = guardian
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard guardian.willRead(Array(unwrapInboundIn(data).readableBytesView)) else { return }
        context.fireChannelRead(data)
        guardian.hasRead()
    }
}

extension Channel {
    /// Puts a guard between the parser of a connection's replies and AsyncHTTPClient.
    ///
    /// - Parameter isTapped: whether what the parser refuses is kept. Only for connections that carry one request.
    func guardResponseHeads(isTapped: Bool, onHead: @escaping () -> Void = {}) throws {
        let parser = try pipeline.syncOperations.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
        let guardian = ResponseHeadGuard(isTapped: isTapped, onHead: onHead)
        try pipeline.syncOperations.addHandler(guardian, position: .after(parser))
        guard isTapped else { return }
        try pipeline.syncOperations.addHandler(ReplyTap(guardian), position: .before(parser))
    }
}
