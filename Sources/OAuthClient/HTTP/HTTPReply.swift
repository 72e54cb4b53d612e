public import HTTPTypes

/// A final reply: status, header fields (all values of repeated ones) and the whole body.
///
/// The body of a token endpoint's reply contains tokens, so no rendering shows it.
public struct HTTPReply: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var response: HTTPResponse
    public var body: [UInt8]

    public init(response: HTTPResponse, body: [UInt8] = []) {
        self.response = response
        self.body = body
    }

    public var description: String { "HTTP \(response.status.code), \(body.count) bytes" }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        Mirror(self, children: ["status": response.status.code, "bytes": body.count], displayStyle: .struct)
    }
}
