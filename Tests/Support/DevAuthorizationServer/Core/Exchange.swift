import Glibc
import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOSSL

/// One request on one connection: read, answered, spoiled if a fault says so, written, logged.
struct Exchange: Sendable {
    /// Thrown to make the server close the connection as it is.
    struct ConnectionEnded: Error {}

    static let bodyLimit = 64 * 1024

    let core: ServerCore
    let channel: any Channel
    /// Whether the connection is the TLS listener's.
    var isSecure = false

    @concurrent func respond(to request: Request, _ writer: consuming ResponseWriter) async throws {
        guard let incoming = try await read(request) else {
            let reply = Reply.error(.invalidRequest("the body is too large", reason: "body too large"))
            return try await write(reply, writer, closing: true)
        }
        if incoming.path == "/dev" || incoming.path.hasPrefix("/dev/") {
            return try await write(core.control(incoming), writer)
        }
        var record = core.describe(incoming)
        guard let fault = core.faults.next(for: record) else {
            let reply = await core.reply(to: incoming, &record)
            core.log(record, status: reply.status)
            return try await write(reply, writer)
        }
        record.fault = fault.name
        try await play(fault, incoming, &record, writer)
    }

    @concurrent private func play(
        _ fault: Fault, _ request: IncomingRequest, _ record: inout RequestRecord, _ writer: consuming ResponseWriter
    ) async throws {
        try await core.faults.delay(for: fault.delay)
        var reply = Reply(.internalServerError)
        if fault.acts {
            reply = await core.reply(to: request, &record)
        } else {
            record.acted = false
            record.outcome = "fault"
        }
        core.spoil(&reply, fault)
        let isSent = fault.ending == .reply || fault.ending == .closeBody || fault.ending == .resetBody
        core.log(record, status: isSent ? reply.status : nil)
        try await core.faults.delay(for: fault.replyDelay)
        switch fault.ending {
        case .reply: try await write(reply, writer)
        case .close: throw ConnectionEnded()
        case .reset:
            await reset()
            throw ConnectionEnded()
        case .hang: try await Task.sleep(for: .seconds(86_400))
        case .closeBody, .resetBody: try await writeStart(of: reply, fault, writer)
        }
    }

    @concurrent private func writeStart(of reply: Reply, _ fault: Fault, _ writer: consuming ResponseWriter)
        async throws
    {
        var headers = reply.headers
        headers[.contentLength] = String(reply.body.count)
        headers[.date] = core.clock.httpDate
        var body = try await writer.writeHead(HTTPResponse(status: reply.status, headerFields: headers))
        try await body.write(ByteBuffer(bytes: reply.body.prefix(fault.bodyBytes)))
        // What was written must be on its way before the connection goes.
        try await Task.sleep(for: .milliseconds(20))
        if fault.ending == .resetBody { await reset() }
        throw ConnectionEnded()
    }

    /// Without a linger time, closing sends RST. It has to be done here: leaving by an error alone would first end the
    /// sending side in good order, with FIN.
    private func reset() async {
        guard let socket = channel as? any SocketOptionProvider else { return }
        try? await socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        try? await channel.close()
    }

    @concurrent private func write(_ reply: Reply, _ writer: consuming ResponseWriter, closing: Bool = false)
        async throws
    {
        var headers = reply.headers
        headers[.contentLength] = String(reply.body.count)
        headers[.date] = core.clock.httpDate
        if closing { headers[.connection] = "close" }
        let body = reply.body.isEmpty ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: reply.body))
        try await writer.write(response: HTTPResponse(status: reply.status, headerFields: headers), body: body)
        if closing { throw ConnectionEnded() }
    }

    private func read(_ request: Request) async throws -> IncomingRequest? {
        var body: [UInt8] = []
        for try await chunk in request.body {
            guard body.count + chunk.readableBytes <= Self.bodyLimit else { return nil }
            body.append(contentsOf: chunk.readableBytesView)
        }
        let target = request.head.path ?? "/"
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let rawPath = String(parts[0])
        var incoming = IncomingRequest(
            method: request.method, rawPath: rawPath, path: core.route(of: rawPath),
            query: parts.count == 2 ? String(parts[1]) : nil, headers: request.headers,
            authority: request.head.authority ?? "", body: body)
        incoming.isSecure = isSecure
        if isSecure, let shown = try? await channel.nioSSL_peerCertificate().get(), let der = try? shown.toDERBytes() {
            incoming.certificate = ShownCertificate(der: der)
        }
        return incoming
    }
}
