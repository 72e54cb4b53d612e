public import FoundationEssentials
public import HTTPTypes
import TokenVault

extension ResourceResponse {
    /// The body of a successful reply, decoded from JSON. ``AuthorizingClient/get(_:headers:for:_:)`` has an example.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - limit: The maximum length of the body in bytes.
    ///   - decoder: The decoder, such as one with another strategy for dates.
    /// - Throws: For a status other than 2xx ``renewalFailure`` or ``stepUp`` if there is one, as they say what to do
    ///   about it; otherwise ``ResourceResponseError``, also for a body that cannot be decoded. `HTTPTransportError`, code
    ///   `tooLarge`, for a longer body, and if its end is missing.
    public func json<Value: Decodable>(
        as type: Value.Type = Value.self, upTo limit: Int = 1 << 20, decoder: JSONDecoder = JSONDecoder()
    ) async throws -> Value {
        guard head.status.kind == .successful else {
            if let renewalFailure { throw renewalFailure }
            if let stepUp { throw stepUp }
            throw ResourceResponseError(head, await body.beginning(ResourceResponseError.mostOfBody))
        }
        let bytes = try await body.collect(upTo: limit)
        do {
            return try decoder.decode(type, from: Data(bytes))
        } catch {
            throw ResourceResponseError(head, Array(bytes.prefix(ResourceResponseError.mostOfBody)), error)
        }
    }
}

extension ResourceResponse.Body {
    /// What arrives of it, up to a limit.
    fileprivate func beginning(_ limit: Int) async -> [UInt8] {
        var bytes: [UInt8] = []
        var iterator = makeAsyncIterator()
        while bytes.count < limit, let piece = try? await iterator.next() { bytes += piece.prefix(limit - bytes.count) }
        return bytes
    }
}

/// An API's reply that brought no value: its status is not 2xx, or its body is not the expected JSON.
///
/// Its description has the status, and nothing else of the reply, which may contain data of users.
public struct ResourceResponseError: Error, Sendable {
    public let head: HTTPResponse
    /// The beginning of the body, up to 64 KiB.
    public let body: [UInt8]
    /// Why a successful reply cannot be decoded; nil for any other status. It may quote the body.
    public let decodingError: (any Error)?

    static let mostOfBody = 64 << 10

    init(_ head: HTTPResponse, _ body: [UInt8], _ decodingError: (any Error)? = nil) {
        self.head = head
        self.body = body
        self.decodingError = decodingError
    }

    private var decodingWords: String? {
        switch decodingError {
        case nil: nil
        // The name is in the program, not only in the reply.
        case DecodingError.keyNotFound(let key, _)?: "it has no member \(key.stringValue)"
        case DecodingError.typeMismatch?: "a value has another type"
        case DecodingError.valueNotFound?: "a value is missing"
        default: "it cannot be decoded"
        }
    }
}

extension ResourceResponseError: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        guard let decodingWords else { return "the API answered with status \(head.status.code)" }
        return "the API's reply, with status \(head.status.code), is not the expected JSON: \(decodingWords)"
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        Mirror(self, children: ["status": head.status.code, "bytes": body.count], displayStyle: .struct)
    }
}
