import HTTPTypes
import OAuthClient

extension FuzzTarget {
    /// A provider's profile: whatever an operator's file says, it never turns an outage into a final failure.
    static let profile = FuzzTarget("profile") { bytes throws(FuzzFinding) in
        guard let profile = try? ProviderProfile(parsing: bytes, file: "fuzz.json") else { return }
        let again = try? ProviderProfile(parsing: bytes, file: "fuzz.json")
        try require(again == profile, "the same file is two profiles")
        let endpoints = [
            profile.endpoints.issuer?.rawValue, profile.endpoints.authorization?.rawValue,
            profile.endpoints.token?.rawValue, profile.endpoints.refresh?.rawValue,
            profile.endpoints.pushedAuthorization?.rawValue, profile.endpoints.introspection?.rawValue,
        ]
        for endpoint in endpoints.compactMap(\.self) {
            try require((try? EndpointURL(endpoint)) != nil, "an endpoint that is not https")
        }
        for (status, body) in [(500, #"{"error":"invalid_grant"}"#), (429, ""), (302, ""), (403, "<html>")] {
            let reply = HTTPReply(response: HTTPResponse(status: .init(code: status)), body: Array(body.utf8))
            if case .dead = classify(.reply(reply), ClassificationContext(), profile.reply) {
                throw FuzzFinding("status \(status) ends a login")
            }
        }
    }
}
