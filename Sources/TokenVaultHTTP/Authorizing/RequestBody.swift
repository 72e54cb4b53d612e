public import FoundationEssentials
import HTTPTypes

/// The body of a request.
public enum RequestBody: Sendable {
    case none
    /// Sent again if the request is.
    case bytes([UInt8])
    /// The same, with the media type for `Content-Type`. A request that has the field keeps it. See ``json(_:encoder:)``.
    case document([UInt8], contentType: String)
    /// Read while it is sent, and never replayed: the request is sent once, whatever the reply.
    ///
    /// Without a length it is sent in chunks.
    case stream(any AsyncSequence<[UInt8], any Error> & Sendable, length: Int64? = nil)

    /// A value as JSON.
    ///
    /// - Throws: The errors of the encoder.
    public static func json(_ value: some Encodable, encoder: JSONEncoder = JSONEncoder()) throws -> RequestBody {
        .document([UInt8](try encoder.encode(value)), contentType: "application/json")
    }

    var canBeSentAgain: Bool {
        if case .stream = self { false } else { true }
    }

    /// The request with the body's media type, unless it names one.
    func describe(_ request: HTTPRequest) -> HTTPRequest {
        guard case .document(_, let contentType) = self, request.headerFields[.contentType] == nil else {
            return request
        }
        var request = request
        request.headerFields[.contentType] = contentType
        return request
    }

    /// All of it.
    func collected() async throws -> [UInt8] {
        switch self {
        case .none: return []
        case .bytes(let bytes), .document(let bytes, _): return bytes
        case .stream(let stream, _):
            var bytes: [UInt8] = []
            for try await piece in stream { bytes += piece }
            return bytes
        }
    }
}
