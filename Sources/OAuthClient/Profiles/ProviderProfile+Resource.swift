package import HTTPTypes

extension ProviderProfile {
    /// How an API refuses a token, beyond what RFC 6750 has for it: `WWW-Authenticate` with `invalid_token`.
    package struct ResourceRules: Hashable, Sendable {
        /// Statuses that say so by themselves.
        package var refusedStatuses: Set<Int> = []
        /// Codes in a JSON body that say so.
        package var refusedCodes: Set<String> = []
        /// With which statuses a body is looked at.
        package var codeStatuses: Set<Int> = []
        /// Where the code stands in the body; the first that is there counts.
        package var codeMembers = ["error"]

        package init() {}

        /// Longer bodies are no error messages.
        package static let longestBody = 65_536

        /// Whether the body must be read to know.
        package func needsBody(_ response: HTTPResponse) -> Bool {
            guard !refusedCodes.isEmpty, codeStatuses.contains(response.status.code),
                !refusedStatuses.contains(response.status.code),
                let type = response.headerFields[.contentType]?.prefix(while: { $0 != ";" && $0 != " " }),
                type.lowercased() == "application/json"
            else { return false }
            // What is longer is data. In chunks, the length is not known before the end.
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

    static func resource(_ section: ProfileFields) throws(ProfileError) -> ResourceRules {
        var section = section
        var rules = ResourceRules()
        rules.refusedStatuses = try section.numbers("refusedStatuses", in: 400...499) ?? []
        rules.refusedCodes = Set(try section.texts("refusedCodes"))
        if let statuses = try section.numbers("codeStatuses", in: 200...499) { rules.codeStatuses = statuses }
        let members = try section.texts("codeMembers")
        if !members.isEmpty { rules.codeMembers = members }
        try section.finish()
        guard rules.refusedCodes.isEmpty == rules.codeStatuses.isEmpty, members.isEmpty || !rules.refusedCodes.isEmpty
        else {
            throw section.failure(.contradiction, "refusedCodes", "codes need the statuses with which they come")
        }
        // A status that each of many requests may bring for reasons of its own must not renew a token each time.
        guard rules.refusedStatuses.isDisjoint(with: [404, 408, 409, 412, 429]) else {
            throw section.failure(.notAllowed, "refusedStatuses", "this status is about the request")
        }
        return rules
    }
}
