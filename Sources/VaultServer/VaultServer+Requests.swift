import FoundationEssentials
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import OAuthClient
import Platform
import TokenVault

extension VaultServer {
    private static let longestBody = 65_536
    private static let lastEventID = HTTPField.Name("Last-Event-ID")

    /// Answers one request, whatever it is.
    @concurrent
    func answer(
        _ request: Request, _ writer: consuming ResponseWriter, _ connection: Connection
    ) async throws {
        let facts = connection.begin()
        defer { connection.end() }
        if request.headers.contains(where: { $0.name == .expect && $0.value.lowercased() == "100-continue" }) {
            try await writer.writeInformationalHead(HTTPResponse(status: .continue))
        }
        var reply = await reply(to: request, facts, connection)
        if !facts.keepsAlive { reply.closes = true }
        let head = reply.head
        switch reply.body {
        case .text(let text):
            try await writer.write(
                response: head,
                body: text.isEmpty || request.method == .head
                    ? .init() : .init(byteBuffer: ByteBuffer(string: text)))
        case .stream where request.method == .head: try await writer.writeResponse(head)
        case .stream(let body):
            try await writer.write(
                response: head,
                body: ResponseBody { writer in
                    try await body(&writer)
                    try await writer.finish(nil)
                })
        }
        // What is still to come is not read.
        if reply.closes { throw ConnectionEnd() }
    }

    private struct ConnectionEnd: Error {}

    private func reply(
        to request: Request, _ facts: HeadReader.Facts, _ connection: Connection
    ) async -> Reply {
        let client = vault.currentPolicy.client(of: connection.peer, on: connection.socket)
        var operation: Operation?
        var reply: Reply
        do throws(Problem) {
            guard facts.isPlain else { throw .invalid("the request's target is not a path, or it has two hosts") }
            reply = try await outcome(of: request, client, connection, &operation)
        } catch {
            reply = error.reply
        }
        traffic.count(client?.name ?? "none", operation?.id ?? "none", reply.status.code)
        return reply
    }

    private func outcome(
        of request: Request, _ client: PolicyClient?, _ connection: Connection, _ found: inout Operation?
    ) async throws(Problem) -> Reply {
        guard let client else {
            throw Problem(
                .forbidden, "unknownClient",
                "the policy has no client for the user \(connection.peer.user) and the group \(connection.peer.group)")
        }
        try Self.refuseBrowsers(request)
        let (operation, parameters) = try Self.operation(for: request)
        found = operation
        if let verb = operation.verb, let refusal = client.refusal(of: verb) { throw Problem(client, refusal) }
        guard traffic.begin(client.name, atMost: vault.options.requests) else {
            var problem = Problem(
                .tooManyRequests, "tooManyRequests", "\(vault.options.requests) requests of this client are under way")
            problem.retryAfter = 1
            throw problem
        }
        defer { traffic.end(client.name) }
        var values = Call.Values()
        if !operation.query.isEmpty || request.head.path?.utf8.contains(UInt8(ascii: "?")) ?? false {
            values = try Call.Values(query: request.uri.query ?? "", operation.query)
        }
        if let fields = operation.body {
            values = try Call.Values(body: try await body(of: request, connection), fields)
        }
        var call = Call(
            vault: vault, client: client, connection: connection, parameters: parameters, values: values)
        call.lastEventID = Self.lastEventID.flatMap { request.headers.only($0) }
        do {
            return try await operation.handle(call)
        } catch {
            throw problem(error)
        }
    }

    private func problem(_ error: any Error) -> Problem {
        switch error {
        case let problem as Problem: return problem
        case let error as VaultError:
            return Problem(error, vault.options.hints(error))
        case is CancellationError:
            return Problem(.serviceUnavailable, VaultError.Code.closed.name, "the server stops")
        default:
            vault.options.logger.error("a request failed", metadata: ["error": "\(type(of: error))"])
            return Problem(.internalServerError, "internalError", "the request failed")
        }
    }

    /// No browser, and no proxy that reaches a socket for one, asks like this.
    private static func refuseBrowsers(_ request: Request) throws(Problem) {
        let host = request.head.authority ?? ""
        guard host.isEmpty || host.lowercased() == "tokenvault" else {
            throw Problem(
                .misdirectedRequest, "wrongHost", "the Host is not tokenvault",
                hint: "use http://tokenvault/ as the base URL")
        }
        guard !request.headers.contains(where: { $0.name == .origin }) else {
            throw Problem(.forbidden, "fromBrowser", "a request with an Origin comes from a web page")
        }
        guard request.head.path?.hasPrefix("/") == true else {
            throw .invalid("the request's target is not a path")
        }
    }

    private static func operation(
        for request: Request
    ) throws(Problem) -> (operation: Operation, parameters: [String: String]) {
        let target = request.head.path ?? ""
        let path = target[..<(target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex)]
        // The answer to HEAD is that to GET without its body.
        let method = request.method == .head ? .get : request.method
        // A path that is written out is none of those with a parameter in its place.
        let written = Operation.byPath[path]
        if let match = written?.first(where: { $0.method == method }) { return (match, Dictionary()) }
        let found = written?.map { (operation: $0, parameters: Dictionary()) } ?? Operation.matching(path)
        if let match = found.first(where: { $0.operation.method == method }) { return match }
        guard !found.isEmpty else {
            throw Problem(.notFound, "unknownPath", "there is nothing here", hint: "see /v1/openapi.json")
        }
        var allowed = found.map(\.operation.method)
        if allowed.contains(.get) { allowed.append(.head) }
        let names = allowed.map(\.rawValue).joined(separator: ", ")
        var problem = Problem(.methodNotAllowed, "methodNotAllowed", "the methods of this path are: \(names)")
        problem.allow = allowed
        throw problem
    }

    private func body(of request: Request, _ connection: Connection) async throws(Problem) -> [UInt8] {
        let type = request.headers.only(.contentType) ?? ""
        guard type == "application/json" || type.prefix(while: { $0 != ";" }).lowercased() == "application/json" else {
            throw Problem(
                .unsupportedMediaType, "notJSON", "the request's Content-Type is not application/json")
        }
        var tooLarge = Problem(.contentTooLarge, "tooLarge", "the body is longer than \(Self.longestBody) bytes")
        tooLarge.closes = true
        if let length = request.headers.only(.contentLength).flatMap(Int.init), length > Self.longestBody {
            throw tooLarge
        }
        // A client that sends a byte now and then holds up only its own connection, and not for long.
        connection.expectBody(by: .now + vault.options.bodyTime)
        defer { connection.expectBody(by: nil) }
        var bytes: [UInt8] = []
        do {
            for try await part in request.body {
                guard bytes.count + part.readableBytes <= Self.longestBody else { throw tooLarge }
                bytes += part.readableBytesView
            }
        } catch let problem as Problem {
            throw problem
        } catch {
            throw .invalid("the body ended too early")
        }
        return bytes
    }
}

extension HTTPFields {
    /// The value of the only field with this name. A subscript would join the values of several, which takes longer than to
    /// look at all fields.
    fileprivate func only(_ name: HTTPField.Name) -> String? {
        var value: String?
        for field in self where field.name == name {
            guard value == nil else { return nil }
            value = field.value
        }
        return value
    }
}

extension Problem {
    /// What the policy does not allow. The client is named, so that an operator finds its line.
    init(_ client: PolicyClient, _ refusal: PolicyRefusal) {
        self.init(
            .forbidden, "notAllowed", "the policy does not allow this to \(client.name): \(refusal.reason)",
            hint: "an operator can add it to the policy: \(refusal.setting), in the client of line \(client.line)")
    }
}
