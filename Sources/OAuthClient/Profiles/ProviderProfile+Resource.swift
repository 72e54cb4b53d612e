package import HTTPTypes

extension ProviderProfile {
    /// How an API rejects a token, in addition to RFC 6750's `WWW-Authenticate` with `invalid_token`.
    package struct ResourceRules: Hashable, Sendable {
        /// Statuses that always mean a rejected token.
        package var refusedStatuses: Set<Int> = []
        /// Codes in a JSON body that mean a rejected token.
        package var refusedCodes: Set<String> = []
        /// Statuses whose bodies are searched for a code.
        package var codeStatuses: Set<Int> = []
        /// The possible paths of the code in the body; the first one present counts.
        package var codeMembers = ["error"]

        /// The header that APIs want the token in.
        package var header = HTTPField.Name.authorization
        /// The word before the token; nil for the token's own type, empty for none.
        package var scheme: String?

        package init() {}

        /// A longer body is not an error message.
        package static let longestBody = 65_536

        /// Whether the body must be read to decide.
        package func needsBody(_ response: HTTPResponse) -> Bool {
            guard !refusedCodes.isEmpty, codeStatuses.contains(response.status.code),
                !refusedStatuses.contains(response.status.code),
                let type = response.headerFields[.contentType]?.prefix(while: { $0 != ";" && $0 != " " }),
                type.lowercased() == "application/json"
            else { return false }
            // A longer body is data. With chunked encoding the length is unknown until the end.
            guard let length = response.headerFields[.contentLength] else { return true }
            return Int(length).map { (1...Self.longestBody).contains($0) } ?? false
        }

        package func refusesToken(_ response: HTTPResponse, body: [UInt8]?) -> Bool {
            if refusedStatuses.contains(response.status.code) { return true }
            guard let body, body.count <= Self.longestBody, needsBody(response) else { return false }
            let content = ReplyBody(HTTPReply(response: response, body: body), format: .json)
            for member in codeMembers {
                let codes = content.fields(at: member).compactMap(\.code)
                if !codes.isEmpty { return codes.contains(where: refusedCodes.contains) }
            }
            return false
        }
    }

    private static let ownHeaders: Set<String> = [
        "host", "content-length", "content-type", "cookie", "dpop", "connection", "transfer-encoding", "upgrade",
    ]

    static func resource(_ section: ProfileFields) throws(ProfileError) -> ResourceRules {
        var section = section
        var rules = ResourceRules()
        rules.refusedStatuses = try section.numbers("refusedStatuses", in: 400...499) ?? []
        rules.refusedCodes = Set(try section.texts("refusedCodes"))
        if let statuses = try section.numbers("codeStatuses", in: 200...499) { rules.codeStatuses = statuses }
        let members = try section.texts("codeMembers")
        if !members.isEmpty { rules.codeMembers = members }
        if let header = try section.text("header") {
            guard let name = HTTPField.Name(header), !Self.ownHeaders.contains(name.canonicalName) else {
                throw section.failure(.notAllowed, "header", "expected the name of a header for tokens")
            }
            rules.header = name
        }
        rules.scheme = try section.emptyOrText("scheme")
        guard rules.scheme.map({ $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } }) ?? true else {
            throw section.failure(.notAllowed, "scheme", "expected a word, or nothing")
        }
        try section.finish()
        guard rules.refusedCodes.isEmpty == rules.codeStatuses.isEmpty, members.isEmpty || !rules.refusedCodes.isEmpty
        else {
            throw section.failure(.contradiction, "refusedCodes", "codes require codeStatuses, and the reverse")
        }
        // A status that many requests may get for their own reasons must not renew a token each time.
        guard rules.refusedStatuses.isDisjoint(with: [404, 408, 409, 412, 429]) else {
            throw section.failure(.notAllowed, "refusedStatuses", "this status is about the request")
        }
        return rules
    }
}
