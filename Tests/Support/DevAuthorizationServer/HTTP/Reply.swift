import FoundationEssentials
import HTTPTypes

/// A response before it is written, so that a fault can still change it.
struct Reply: Sendable {
    var status: HTTPResponse.Status
    var headers: HTTPFields
    var body: [UInt8]

    init(_ status: HTTPResponse.Status, headers: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) -> Reply {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Every value encoded here is made of strings and integers, which always can be.
        let body = (try? encoder.encode(value)).map(Array.init) ?? []
        return Reply(status, headers: [.contentType: "application/json"], body: body)
    }

    static func error(_ error: OAuthError) -> Reply {
        let members: JSONValue = ["error": .string(error.code), "error_description": .string(error.description)]
        var reply = Reply.json(members, status: error.status).uncached
        for field in error.headers { reply.headers.append(field) }
        return reply
    }

    static func redirect(to location: String, status: HTTPResponse.Status) -> Reply {
        Reply(status, headers: [.location: location, .referrerPolicy: "no-referrer"]).uncached
    }

    static func methodNotAllowed(_ allowed: String) -> Reply {
        var reply = Reply.json(
            ["error": "invalid_request", "error_description": "this method is not served here"] as JSONValue,
            status: .methodNotAllowed)
        reply.headers[.allow] = allowed
        return reply
    }

    static let notFound = Reply.json(["error": "not_found"] as JSONValue, status: .notFound)

    /// RFC 6749 §5.1.
    var uncached: Reply {
        var copy = self
        copy.headers[.cacheControl] = "no-store"
        copy.headers[.pragma] = "no-cache"
        return copy
    }
}
