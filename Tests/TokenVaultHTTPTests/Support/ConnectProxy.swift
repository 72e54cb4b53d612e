import NIOCore
import NIOPosix
import Synchronization

/// A proxy that does CONNECT (RFC 9110 §9.3.6) and nothing else, and keeps what went through it.
final class ConnectProxy: Sendable {
    /// What it does with a CONNECT.
    enum Manner: Sendable {
        /// Lets it through, if the credentials are these.
        case connects(authorization: String? = nil)
        case answers(String)
        /// Ends the connection without a word.
        case hangsUp
    }

    struct Seen: Sendable {
        /// The heads of what it was asked, as they came.
        var heads: [String] = []
        /// What clients sent through it.
        var relayed: [UInt8] = []
    }

    private let state = Mutex(Seen())
    private let channel: any Channel

    var port: Int { channel.localAddress?.port ?? 0 }
    var seen: Seen { state.withLock { $0 } }

    static func with<Result>(
        _ manner: Manner = .connects(), _ body: (ConnectProxy) async throws -> Result
    ) async throws -> Result {
        let proxy = try await ConnectProxy(manner)
        do {
            let result = try await body(proxy)
            try? await proxy.channel.close()
            return result
        } catch {
            try? await proxy.channel.close()
            throw error
        }
    }

    private init(_ manner: Manner) async throws {
        let owner = Box()
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AskedHandler(manner, owner))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        owner.proxy.withLock { $0 = self }
    }

    fileprivate func note(_ head: String) { state.withLock { $0.heads.append(head) } }
    fileprivate func note(relayed bytes: ByteBufferView) { state.withLock { $0.relayed += bytes } }

    /// The proxy, which is there before anyone connects.
    fileprivate final class Box: Sendable {
        let proxy = Mutex<ConnectProxy?>(nil)

        func note(_ head: String) { proxy.withLock { $0 }?.note(head) }
        func note(relayed bytes: ByteBufferView) { proxy.withLock { $0 }?.note(relayed: bytes) }
    }
}

/// Reads the CONNECT, and becomes a relay.
private final class AskedHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let manner: ConnectProxy.Manner
    private let owner: ConnectProxy.Box
    private var head = ByteBuffer()
    private var peer: (any Channel)?
    private var isAsked = false

    init(_ manner: ConnectProxy.Manner, _ owner: ConnectProxy.Box) {
        self.manner = manner
        self.owner = owner
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if let peer {
            owner.note(relayed: bytes.readableBytesView)
            return peer.writeAndFlush(bytes, promise: nil)
        }
        head.writeBuffer(&bytes)
        let text = String(buffer: head)
        guard !isAsked, text.hasSuffix("\r\n\r\n") else { return }
        isAsked = true
        owner.note(text)
        switch manner {
        case .hangsUp: context.close(promise: nil)
        case .answers(let reply): say(reply, context, thenClose: true)
        case .connects(let authorization):
            let given = text.split(separator: "\r\n").first { $0.lowercased().hasPrefix("proxy-authorization: ") }
            guard authorization == nil || given?.dropFirst("proxy-authorization: ".count) == authorization?[...] else {
                return say(
                    "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"x\"\r\n\r\n",
                    context, thenClose: true)
            }
            connect(String(text.split(separator: " ")[1]), context)
        }
    }

    private func connect(_ target: String, _ context: ChannelHandlerContext) {
        let parts = target.split(separator: ":")
        let client = context.channel
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        // localhost is this machine whatever its names say.
        ClientBootstrap(group: context.eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(BackHandler(client))
                }
            }
            .connect(host: "127.0.0.1", port: Int(parts.last ?? "") ?? 0)
            .whenComplete { result in
                let (handler, context) = bound.value
                switch result {
                case .success(let channel):
                    handler.peer = channel
                    handler.say("HTTP/1.1 200 OK\r\n\r\n", context, thenClose: false)
                case .failure: handler.say("HTTP/1.1 502 Bad Gateway\r\n\r\n", context, thenClose: true)
                }
            }
    }

    private func say(_ text: String, _ context: ChannelHandlerContext, thenClose: Bool) {
        let written = context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)))
        guard thenClose else { return }
        let channel = context.channel
        written.whenComplete { _ in channel.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) { peer?.close(promise: nil) }
}

/// What comes back from the server.
private final class BackHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let client: any Channel

    init(_ client: any Channel) { self.client = client }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        client.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { client.close(promise: nil) }
}
