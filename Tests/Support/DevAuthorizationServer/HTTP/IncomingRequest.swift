import HTTPTypes

/// A request whose body has been read.
struct IncomingRequest: Sendable {
    let method: HTTPRequest.Method
    /// The path as it was sent, percent-encoding and all, with the issuer's path in front.
    let rawPath: String
    /// The path below the issuer's.
    let path: String
    let query: String?
    let headers: HTTPFields
    /// `Host`.
    let authority: String
    let body: [UInt8]
    /// Whether it came over TLS, and what the client showed there.
    var isSecure = false
    var certificate: ShownCertificate?

    /// The URI the request was sent to, without its query: what `htu` of a proof must name.
    var targetURI: String { "\(isSecure ? "https" : "http")://\(authority)\(rawPath)" }

    /// The body of a POST as OAuth wants it (RFC 6749 §3.2 and appendix B).
    func form() throws(OAuthError) -> FormParameters {
        let types = headers[values: .contentType]
        guard types.count == 1, Self.isForm(types[0]) else {
            throw .invalidRequest(
                "the body must be application/x-www-form-urlencoded", reason: "wrong content type")
        }
        guard let text = String(validating: body, as: UTF8.self) else {
            throw .invalidRequest("the body is not UTF-8", reason: "malformed parameters")
        }
        return try FormParameters(parsing: text)
    }

    /// Secrets in a request URI end in logs; RFC 6749 §2.3.1 forbids them there.
    func refuseQuery() throws(OAuthError) {
        if let query, !query.isEmpty {
            throw .invalidRequest("parameters belong in the body", reason: "parameters in the query")
        }
    }

    private static func isForm(_ type: String) -> Bool {
        let parts = type.split(separator: ";", omittingEmptySubsequences: false).map { part in
            part.filter { $0 != " " && $0 != "\t" }.lowercased()
        }
        return parts.first == "application/x-www-form-urlencoded"
            && parts.dropFirst().allSatisfy { $0 == "charset=utf-8" || $0 == "charset=\"utf-8\"" }
    }
}
