import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypesHTTP1
import NIOPosix
package import Platform
package import TokenVault

/// Gives tokens to the programs of this machine, over HTTP on UNIX sockets: to those that a policy allows, by what the
/// kernel says of who asks. A refresh token, a client secret, a key or an id token never leaves through it.
package final class VaultServer: Sendable {
    let vault: ServedVault
    let traffic: Traffic
    var options: ServeOptions { vault.options }
    private let connections: Connections

    package init(users: UserManager, policy: ServePolicy, options: ServeOptions = ServeOptions()) {
        vault = ServedVault(users, policy, options)
        connections = Connections(atMost: options.connections)
        traffic = Traffic(options.metrics)
    }

    /// From the next request on.
    package func replacePolicy(_ policy: ServePolicy) { vault.replacePolicy(policy) }

    /// Answers requests until the task is cancelled. Then no other program can connect; those that have connected are
    /// answered, and streams of events end.
    ///
    /// - Parameters:
    ///   - sockets: Where it listens, with the names that the policy has for them. Their files are removed at the end.
    ///   - onListening: Called once connections are accepted.
    package func run(
        on sockets: [(name: String, socket: ListeningSocket)], onListening: @Sendable () async throws -> Void = {}
    ) async throws {
        let slow = Task { [connections, options] in try await connections.closeSlowOnes(every: options.bodyTime / 10) }
        defer { slow.cancel() }
        // In tasks of their own: requests under way are not cancelled with this one.
        var work: [Task<Void, Never>] = []
        var failure: (any Error)?
        do {
            for (name, socket) in sockets {
                let arrivals = try Self.arrivals(at: socket)
                work.append(Task.detached { await self.serve(arrivals, on: name) })
            }
            try await onListening()
        } catch {
            failure = error
            stop(sockets)
        }
        await withTaskCancellationHandler {
            for task in work { await task.value }
        } onCancel: {
            stop(sockets)
        }
        if let failure { throw failure }
    }

    private func stop(_ sockets: [(name: String, socket: ListeningSocket)]) {
        for (_, socket) in sockets { socket.stop() }
        connections.finish()
        Task.detached { [connections, options] in
            try? await Task.sleep(for: options.firstRequestTime)
            connections.closeSilentOnes()
            try? await Task.sleep(for: options.closingTime - options.firstRequestTime)
            connections.closeAll()
        }
    }

    // MARK: Connections

    struct Accepted: Sendable {
        let connection: Connection
        let http: HTTP1Channel
        let channel: HTTP1Channel.Value
    }

    /// The connections, accepted on a thread of their own. A server channel of NIO's would close those that are being set up,
    /// and those that wait, when it is closed.
    private static func arrivals(at socket: ListeningSocket) throws -> AsyncStream<Int32> {
        let (arrivals, continuation) = AsyncStream<Int32>.makeStream()
        let isStarted = OwnThread.start {
            // An error of the listening socket itself ends it.
            while let arrival = try? socket.accept() { continuation.yield(arrival) }
            continuation.finish()
        }
        guard isStarted else { throw SystemError.wouldWait }
        return arrivals
    }

    private func serve(_ arrivals: AsyncStream<Int32>, on socket: String) async {
        await withDiscardingTaskGroup { group in
            for await arrival in arrivals { group.addTask { await self.serve(arrival, on: socket) } }
        }
    }

    private func serve(_ arrival: Int32, on socket: String) async {
        let accepted = try? await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .withConnectedSocket(arrival) { channel in self.accept(channel, on: socket) }
        guard let accepted else { return }
        await accepted.http.handle(value: accepted.channel, logger: options.logger)
        connections.remove(accepted.connection)
    }

    private func accept(_ channel: any Channel, on socket: String) -> EventLoopFuture<Accepted?> {
        guard let options = channel as? any SocketOptionProvider else {
            return channel.close().map { nil }
        }
        let peer: EventLoopFuture<PeerCredentials> = options.unsafeGetSocketOption(
            level: NIOBSDSocket.OptionLevel(rawValue: PeerCredentials.level),
            name: NIOBSDSocket.Option(rawValue: PeerCredentials.option))
        return peer.flatMap { peer in
            let connection = Connection(peer, socket, channel)
            guard self.connections.add(connection) else { return channel.close().map { nil } }
            let http = HTTP1Channel(
                responder: { request, writer, _ in try await self.answer(request, writer, connection) },
                configuration: .init(
                    idleTimeout: TimeAmount(self.options.idleTime),
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: 16_384, maxHeaderListSize: 32_768, maxHeaderFieldCount: 100)))
            return http.setup(channel: channel, logger: self.options.logger).flatMapThrowing { value in
                let codec = try channel.pipeline.syncOperations.handler(type: HTTP1ToHTTPServerCodec.self)
                try channel.pipeline.syncOperations.addHandler(HeadReader(connection), position: .before(codec))
                return Accepted(connection: connection, http: http, channel: value)
            }
        }
    }
}
