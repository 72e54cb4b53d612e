/// Why an entry does not become a profile.
package enum NangoObstacle: Error, Hashable, Sendable, CustomStringConvertible {
    case name
    case aliasOfNothing
    case endlessAlias
    case mode(String)
    case codeByWebhook
    case noEndpoint(String)
    case endpoint(String)
    case template(String)
    case tooManyVariables
    case secretVariable(String)
    case responseType
    case grantType
    case fragment
    case unescapedScopes
    case removedParameter(String)
    case renamedState
    case renaming(String)
    case parameter(String)
    case scopeSeparator
    case authentication
    case certificate
    case header(String)
    case requestsByCode

    /// Lower case, without a full stop. Names of the catalogue only, as far as they are plain words.
    package var description: String {
        switch self {
        case .name: "its name is not one that a profile can have"
        case .aliasOfNothing: "it is an alias of an entry that is not there"
        case .endlessAlias: "its aliases lead in a circle, or over more than \(NangoProvider.longestChain) entries"
        case .mode(let mode): "its users do not log in with OAuth 2.0 (\(Self.plain(mode)))"
        case .codeByWebhook: "its codes arrive by a webhook, not with the user's browser"
        case .noEndpoint(let name): "it has no \(name)"
        case .endpoint(let name): "\(name) is not an https address that a profile can have"
        case .template(let name): "\(Self.plain(name)) has a value that only Nango can compute"
        case .tooManyVariables: "its addresses and parameters need more than 8 variables"
        case .secretVariable(let name): "\(Self.plain(name)) is a secret, and variables are shown"
        case .responseType: "it wants another response_type than code"
        case .grantType: "it wants another grant_type than authorization_code"
        case .fragment: "its parameters belong behind the # of an address"
        case .unescapedScopes: "it wants scopes that are not percent-encoded"
        case .removedParameter(let name): "it wants no \(Self.plain(name)) in the authorization request"
        case .renamedState: "it has another name for state, also in callbacks"
        case .renaming(let name): "the replacement of \(Self.plain(name)) is not a parameter's name"
        case .parameter(let name): "it wants a value of its own for \(Self.plain(name)), which is the client's"
        case .scopeSeparator: "scopes can be separated by a space, comma, plus or semicolon only"
        case .authentication: "its clients authenticate in a way that the catalogue does not describe"
        case .certificate: "it wants a client certificate, which the catalogue does not describe"
        case .header(let name): "APIs want its tokens in the header \(Self.plain(name))"
        case .requestsByCode: "Nango makes its token requests by code that the catalogue does not describe"
        }
    }

    private static func plain(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || "_-. ".utf8.contains(byte)
        }
        return isPlain && (1...64).contains(text.utf8.count) ? text : "?"
    }
}
