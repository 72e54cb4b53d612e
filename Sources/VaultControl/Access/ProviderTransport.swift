import HTTPTypes
import OAuthClient
import TokenVaultHTTP

/// The HTTP transport to the providers. With `--verbose` each request is shown once it has ended.
struct ProviderTransport: HTTPTransport {
    private let base: AsyncHTTPTransport
    private let invocation: Invocation

    init(_ base: AsyncHTTPTransport, _ invocation: Invocation) {
        self.base = base
        self.invocation = invocation
    }

    func shutdown() async { await base.shutdown() }

    func send(
        _ request: HTTPRequest, body: [UInt8], limits: HTTPLimits
    ) async throws(HTTPTransportError) -> HTTPReply {
        try await pass(on: request, body, limits, nil)
    }

    func send(
        _ request: HTTPRequest, body: [UInt8], limits: HTTPLimits, showing certificate: ClientCertificate
    ) async throws(HTTPTransportError) -> HTTPReply {
        try await pass(on: request, body, limits, certificate)
    }

    private func pass(
        on request: HTTPRequest, _ body: [UInt8], _ limits: HTTPLimits, _ certificate: ClientCertificate?
    ) async throws(HTTPTransportError) -> HTTPReply {
        guard invocation.isVerbose else {
            return try await base.send(request, body: body, limits: limits, showing: certificate)
        }
        let start = ContinuousClock.now
        do throws(HTTPTransportError) {
            let reply = try await base.send(request, body: body, limits: limits, showing: certificate)
            RequestLine(request, ContinuousClock.now - start).show(
                ProviderAnswer(reply, to: request, body: body), invocation)
            return reply
        } catch {
            RequestLine(request, ContinuousClock.now - start).show(error, invocation)
            throw error
        }
    }
}

/// The verbose line of one request: its URL and its duration. Its query, its header fields and its body are secret, or
/// may be.
struct RequestLine {
    private let method: String
    private let target: String
    private let duration: Duration

    init(_ request: HTTPRequest, _ duration: Duration) {
        method = request.method.rawValue
        let path = (request.path ?? "/").prefix { $0 != "?" && $0 != "#" }
        target = "\(request.scheme ?? "")://\(request.authority ?? "")\(path)"
        self.duration = duration
    }

    func show(_ answer: ProviderAnswer, _ invocation: Invocation) {
        show(
            [
                .data("status", answer.status), .data("error", answer.errorWord),
                .data("errorDescription", answer.messageWords), .data("failure", JSONValue.null),
            ], words: answer.words, invocation)
    }

    /// Shows a reply whose text is the command's result, and so is not repeated here.
    func show(status: Int, _ invocation: Invocation) {
        show(
            [
                .data("status", status), .data("error", JSONValue.null), .data("errorDescription", JSONValue.null),
                .data("failure", JSONValue.null),
            ], words: String(status), invocation)
    }

    /// Shows that no valid reply arrived.
    func show(_ error: HTTPTransportError, _ invocation: Invocation) {
        show(
            [
                .data("status", JSONValue.null), .data("error", JSONValue.null),
                .data("errorDescription", JSONValue.null), .data("failure", error.description),
            ], words: error.description, invocation)
    }

    private func show(_ reply: OutputRecord, words: String, _ invocation: Invocation) {
        let milliseconds = Int(max(.zero, min(duration, .seconds(86_400))) / .milliseconds(1))
        if invocation.isJSON || invocation.logsJSON {
            let request: OutputRecord = [.data("method", method), .data("url", String(target.prefix(400)))]
            invocation.diagnose([.data("request", request + reply + [.data("milliseconds", milliseconds)])])
        } else {
            // The provider's text comes last, so that it cannot fake the duration.
            invocation.diagnose(
                "request",
                "\(method) \(Printable.shortened(target, to: 400)) (\(milliseconds) ms): "
                    + Printable.shortened(words, to: 400))
        }
    }
}
