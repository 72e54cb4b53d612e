public import HTTPTypes

/// One challenge of a `WWW-Authenticate` field (RFC 9110 §11.6.1): a scheme with parameters or one opaque value.
///
/// ```swift
/// let challenges = AuthenticationChallenge.all(in: response)
/// let wantsNonce = challenges.contains { $0.scheme == "dpop" && $0["error"] == "use_dpop_nonce" }
/// ```
///
/// The texts come from the server: they are untrusted, and no rendering shows them.
public struct AuthenticationChallenge: Hashable, Sendable {
    /// In lower case, because schemes are case-insensitive.
    public let scheme: String
    /// The opaque value of a scheme such as `Negotiate`, if it has that form.
    public let token68: String?
    /// Unquoted values by name, names in lower case.
    public let parameters: [String: String]

    init(scheme: String, token68: String? = nil, parameters: [String: String] = [:]) {
        self.scheme = scheme
        self.token68 = token68
        self.parameters = parameters
    }

    /// The value of a parameter, whatever the case of its name.
    public subscript(name: String) -> String? { parameters[name.lowercased()] }

    /// The code of the `error` parameter (RFC 6750 §3, RFC 9449 §7.1).
    public var error: OAuthErrorCode? { self["error"].flatMap { OAuthErrorCode($0) } }

    /// All challenges of a reply, from all its `WWW-Authenticate` fields, in order.
    ///
    /// A challenge with an unreadable part is skipped; those before and after it are kept.
    public static func all(in response: HTTPResponse) -> [AuthenticationChallenge] {
        all(in: response.headerFields[values: .wwwAuthenticate])
    }

    /// All challenges of these field values, in order.
    public static func all(in fieldValues: [String]) -> [AuthenticationChallenge] {
        var challenges: [AuthenticationChallenge] = []
        for value in fieldValues {
            let room = ChallengeParser.maximumChallenges - challenges.count
            guard room > 0 else { break }
            var parser = ChallengeParser(value)
            challenges += parser.challenges().prefix(room)
        }
        return challenges
    }
}

extension AuthenticationChallenge: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "<challenge: \(parameters.count) parameters>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}
