public import HTTPTypes
public import OAuthClient
import Synchronization

/// A transport that answers from a script instead of a network, and records the requests.
///
/// ```swift
/// let transport = ScriptedTransport()
/// transport.enqueue(.tokens(accessToken: "new", refreshToken: "next"))
/// ```
///
/// Replies are used up in order; when none is left, ``fallback`` answers. While a failure is simulated, it answers
/// instead of both, and the script is unchanged.
///
/// It stands for the provider, as the transport of a `UserManager`, or for an API, as that of an `AuthorizingClient`:
///
/// ```swift
/// let api = ScriptedTransport([.invalidToken(), .json(#"{"name":"Alice"}"#)])
/// ```
public final class ScriptedTransport: HTTPTransport {
    /// A request that was sent.
    public struct SentRequest: Sendable {
        public let request: HTTPRequest
        public let body: [UInt8]
        /// The time limit for the reply.
        public let timeout: Duration

        public init(request: HTTPRequest, body: [UInt8], timeout: Duration = HTTPLimits.tokenEndpoint.timeout) {
            self.request = request
            self.body = body
            self.timeout = timeout
        }

        /// How the request is authorized, such as `Bearer` or `DPoP`; nil if it is not. The credentials are in the
        /// header field.
        public var authorizationScheme: String? {
            request.headerFields[.authorization].map { String($0.prefix { $0 != " " }) }
        }

        /// The path without the query.
        public var path: String { String((request.path ?? "").prefix { $0 != "?" }) }

        /// The fields of a form body, decoded. Contains secrets.
        public var form: [String: String] { FormFields.parse(body) }
    }

    private struct State {
        var script: [ScriptedReply] = []
        var fallback = ScriptedReply.failure(.notSent, .connect)
        var sent: [SentRequest] = []
        var failure: SimulatedFailure?
        /// The number of requests that will still fail; nil if unlimited.
        var failuresLeft: Int?

        mutating func nextReply() -> ScriptedReply {
            if let failure, failuresLeft != 0 {
                failuresLeft = failuresLeft.map { $0 - 1 }
                return failure.reply
            }
            return script.isEmpty ? fallback : script.removeFirst()
        }
    }

    private let state = Mutex(State())

    public init(_ script: [ScriptedReply] = []) {
        state.withLock { $0.script = script }
    }

    /// The answer when the script is exhausted: by default, the provider is unreachable.
    public var fallback: ScriptedReply {
        get { state.withLock { $0.fallback } }
        set { state.withLock { $0.fallback = newValue } }
    }

    public func enqueue(_ replies: ScriptedReply...) {
        state.withLock { $0.script += replies }
    }

    /// Makes requests fail until further notice.
    ///
    /// - Parameters:
    ///   - failure: nil ends the current simulation.
    ///   - times: the number of requests; nil for all.
    public func simulate(_ failure: SimulatedFailure?, times: Int? = nil) {
        state.withLock { state in
            state.failure = failure
            state.failuresLeft = times
        }
    }

    /// Every request so far, in order.
    public var requests: [SentRequest] { state.withLock { $0.sent } }
    public var requestCount: Int { state.withLock { $0.sent.count } }

    /// Returns once at least this many requests have been sent.
    public func waitForRequests(_ count: Int) async {
        while requestCount < count, !Task.isCancelled { await Task.yield() }
    }

    public func send(
        _ request: HTTPRequest, body: [UInt8], limits: HTTPLimits
    ) async throws(HTTPTransportError) -> HTTPReply {
        let sent = SentRequest(request: request, body: body, timeout: limits.timeout)
        let reply = state.withLock { state in
            state.sent.append(sent)
            return state.nextReply()
        }
        return try await reply.answer(sent)
    }
}

extension ScriptedTransport.SentRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Method and URL without the query, scheme of the authorization, length of the body. Nothing of it is secret.
    public var description: String {
        let url = "\(request.scheme ?? "")://\(request.authority ?? "")\(path)"
        return "\(request.method.rawValue) \(url), \(authorizationScheme ?? "not authorized"), \(body.count) bytes"
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["request": description], displayStyle: .struct) }
}

enum FormFields {
    static func parse(_ body: [UInt8]) -> [String: String] {
        var fields: [String: String] = [:]
        for pair in body.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            fields[decode(parts[0])] = parts.count > 1 ? decode(parts[1]) : ""
        }
        return fields
    }

    private static func decode(_ bytes: ArraySlice<UInt8>) -> String {
        var result: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "+") {
                result.append(UInt8(ascii: " "))
            } else if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                result.append(value)
                rest = rest.dropFirst(2)
            } else {
                result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
