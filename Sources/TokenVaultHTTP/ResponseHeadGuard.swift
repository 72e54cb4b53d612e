import HTTPTypes
import NIOCore
import NIOHTTP1
import OAuthClient

/// Inspects a connection's replies between the parser and AsyncHTTPClient.
///
/// AsyncHTTPClient treats every status below 200 as informational, expects another head after it, and crashes the
/// process if none follows, as after `HTTP/1.1 000`. So the guard lets no status below 100 through, and no endless
/// series of informational heads. AsyncHTTPClient also drops the received part of a body when the parser fails; the
/// guard keeps it with the error.
final class ResponseHeadGuard: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    static let mostInformationalHeads = 16
    /// How long the guard waits for bytes after an error that may belong to the body.
    static let timeLimit = TimeAmount.seconds(2)

    private let onHead: () -> Void
    /// Whether the connection is for one reply, and a ``ReplyTap`` also reads it.
    private let isTapped: Bool
    private var informationalHeads = 0
    private var isRefused = false
    private var hasHead = false
    private var bodyCount = 0
    /// The reply has ended, or has failed, from AsyncHTTPClient's point of view.
    private var isOver = false
    private var context: ChannelHandlerContext?
    /// The reply as ``ReplyTap`` has read it.
    private(set) var raw = RawReply()
    private var failure: (any Error)?

    /// - Parameter onHead: Called when the head of the reply itself has arrived.
    init(isTapped: Bool, onHead: @escaping () -> Void = {}) {
        self.isTapped = isTapped
        self.onHead = onHead
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Data that the parser has already read arrives even after the connection is closed.
        if isRefused || isOver { return }
        switch unwrapInboundIn(data) {
        case .head(let head) where !accepts(head.status.code):
            isRefused = true
            context.fireErrorCaught(ReplyRefused.malformedHead)
            context.close(promise: nil)
            return
        case .head(let head): hasHead = head.status.code >= 200
        case .body(let part): bodyCount += part.readableBytes
        // On a connection that is kept open, another reply follows.
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
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.timeLimit) { self.fail() }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if failure != nil { fail() }
        context.fireChannelInactive()
    }

    /// Returns false if the parser must not get the bytes.
    func willRead(_ bytes: [UInt8]) -> Bool {
        if !isOver { raw.read(bytes) }
        if failure != nil, raw.isComplete { fail() }
        return failure == nil
    }

    /// Called when the parser has read all available bytes.
    func hasRead() { _ = endsWhole() }

    /// A chunked body is complete once its zero chunk has arrived: nothing after it can change that (RFC 9112 §8).
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

/// A reply that the parser rejected, and its readable part.
struct BrokenReply: Error {
    let cause: any Error
    let received: HTTPReply?
}

/// Passes arriving bytes to a ``ResponseHeadGuard`` before the parser reads them.
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
    /// Inserts a guard between the parser of a connection's replies and AsyncHTTPClient.
    ///
    /// - Parameter isTapped: Whether replies that the parser rejects are kept. Only for connections that carry one
    ///   request.
    func guardResponseHeads(isTapped: Bool, onHead: @escaping () -> Void = {}) throws {
        let parser = try pipeline.syncOperations.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
        let guardian = ResponseHeadGuard(isTapped: isTapped, onHead: onHead)
        try pipeline.syncOperations.addHandler(guardian, position: .after(parser))
        guard isTapped else { return }
        try pipeline.syncOperations.addHandler(ReplyTap(guardian), position: .before(parser))
    }
}
