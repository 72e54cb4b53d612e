import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1
import OAuthClient
import Synchronization

/// The reason why a reply is rejected.
enum ReplyRefused: Error {
    case tooLarge
    case malformedHead
}

/// One request and its reply: collects within the limits, and knows whether the request left.
final class Exchange: HTTPClientResponseDelegate {
    private struct State {
        var mayHaveBeenSent = false
        var response: HTTPResponse?
        var body: [UInt8] = []
        var bodyParts = 0
        /// The reply is unusable, but its content is kept.
        var refusal: ReplyRefused?
        /// Ends the wait for the rest of such a reply.
        var cancelWait: (@Sendable () -> Void)?
    }

    private let limits: HTTPLimits
    private let state = Mutex(State())

    init(limits: HTTPLimits) {
        self.limits = limits
    }

    /// Whether a part of the request was handed to the connection.
    var mayHaveBeenSent: Bool {
        state.withLock { $0.mayHaveBeenSent }
    }

    /// The part of the reply that has arrived, if it includes the head.
    var received: HTTPReply? {
        state.withLock { state in state.response.map { HTTPReply(response: $0, body: state.body) } }
    }

    func didSendRequestHead(task: HTTPClient.Task<HTTPReply>, _ head: HTTPRequestHead) {
        state.withLock { $0.mayHaveBeenSent = true }
    }

    func didReceiveHead(task: HTTPClient.Task<HTTPReply>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        // A rejected head precedes a body that may hold the only copy of a token.
        let response: HTTPResponse
        var refusal: ReplyRefused?
        do throws(ReplyRefused) {
            response = try self.response(from: head)
        } catch {
            guard let status = Self.status(of: head) else { return task.eventLoop.makeFailedFuture(error) }
            var fields = HTTPFields()
            fields[.contentType] = head.headers.first(name: "content-type").map { String($0.prefix(256)) }
            response = HTTPResponse(status: status, headerFields: fields)
            refusal = error
            // A shorter wait than for a usable reply: what follows is a body, or nothing.
            let wait = task.eventLoop.scheduleTask(in: ResponseHeadGuard.timeLimit) { task.fail(reason: error) }
            state.withLock { $0.cancelWait = { wait.cancel() } }
        }
        state.withLock { state in
            state.response = response
            state.refusal = refusal
        }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<HTTPReply>, _ part: ByteBuffer) -> EventLoopFuture<Void> {
        task.eventLoop.makeCompletedFuture {
            try state.withLock { state in
                state.bodyParts += 1
                if let refusal = state.refusal {
                    let room = RawReply.mostBody - state.body.count
                    state.body.append(contentsOf: part.readableBytesView.prefix(room))
                    guard part.readableBytes < room, state.bodyParts <= AsyncHTTPTransport.mostBodyParts else {
                        throw refusal
                    }
                    return
                }
                guard part.readableBytes <= limits.bodyBytes - state.body.count,
                    state.bodyParts <= AsyncHTTPTransport.mostBodyParts
                else { throw ReplyRefused.tooLarge }
                state.body.append(contentsOf: part.readableBytesView)
            }
        }
    }

    func didReceiveError(task: HTTPClient.Task<HTTPReply>, _ error: any Error) {
        endWait()
    }

    /// Whether it waits for the rest of a rejected reply.
    var isWaitingForRest: Bool { state.withLock { $0.cancelWait != nil } }

    private func endWait() {
        let cancel = state.withLock { state in
            defer { state.cancelWait = nil }
            return state.cancelWait
        }
        cancel?()
    }

    func didFinishRequest(task: HTTPClient.Task<HTTPReply>) throws -> HTTPReply {
        endWait()
        return try state.withLock { state in
            if let refusal = state.refusal { throw refusal }
            guard let response = state.response else { throw ReplyRefused.malformedHead }
            return HTTPReply(response: response, body: state.body)
        }
    }

    /// Drops the reason phrase: it is free text from the server and means nothing.
    private func response(from head: HTTPResponseHead) throws(ReplyRefused) -> HTTPResponse {
        guard let status = Self.status(of: head) else { throw .malformedHead }
        let bytes = head.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        guard head.headers.count <= limits.headerFields, bytes <= limits.headerBytes else {
            throw .tooLarge
        }
        if let declared = head.headers.first(name: "content-length").flatMap({ Int($0) }),
            declared > limits.bodyBytes
        {
            throw .tooLarge
        }
        var fields = HTTPFields()
        for (name, value) in head.headers {
            guard let name = HTTPField.Name(name) else { throw .malformedHead }
            fields.append(HTTPField(name: name, value: value))
        }
        return HTTPResponse(status: status, headerFields: fields)
    }

    private static func status(of head: HTTPResponseHead) -> HTTPResponse.Status? {
        let code = Int(head.status.code)
        return (100...999).contains(code) ? HTTPResponse.Status(code: code) : nil
    }
}
