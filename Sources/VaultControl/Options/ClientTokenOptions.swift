import ArgumentParser
import OAuthClient
import TokenVault

/// The purpose of a token of the client itself.
struct ClientTokenOptions: ParsableArguments {
    @Option(help: .init("What the token may be used for. By default, the provider decides.", valueName: "scope"))
    var scope: String?

    @Option(help: .init("The API that the token is for (RFC 8707).", valueName: "uri"))
    var resource: String?

    @Option(
        help: .init(
            "Any other parameter of this provider, as NAME=VALUE, such as audience=… Repeatable.",
            valueName: "name=value"))
    var parameter: [String] = []

    /// Parameters that every token request has already.
    private static let own: Set<String> = [
        "client_assertion", "client_assertion_type", "client_id", "client_secret", "grant_type", "resource", "scope",
    ]

    /// RFC 8707 §2: an absolute URI without a fragment.
    static func isResource(_ text: String) -> Bool {
        let scheme = text.prefix { $0 != ":" }
        return scheme.count < text.count && !scheme.isEmpty && !text.contains("#")
            && scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    }

    static func notResource(_ text: String) -> Failure {
        .usage(
            "--resource \(Printable.named(text)) is not an absolute URI without a fragment",
            hint: "use the API's own URI, such as https://api.example")
    }

    var isGiven: Bool { scope != nil || resource != nil || !parameter.isEmpty }

    var request: TokenRequest {
        get throws {
            if let resource, !Self.isResource(resource) { throw Self.notResource(resource) }
            return TokenRequest(resource: resource, scope: try scope.map { try Scope($0, of: "--scope") })
        }
    }

    var parameters: [FormParameter] {
        get throws(Failure) {
            var all: [FormParameter] = []
            for text in parameter {
                let one = try FormParameter(argument: text, example: "audience=https://api.example")
                guard !Self.own.contains(one.name) else {
                    let option = ["scope", "resource"].contains(one.name) ? "use --\(one.name)" : "leave it out"
                    throw .usage("vaultctl sets the parameter \(one.name) itself", hint: option)
                }
                all.append(one)
            }
            return all
        }
    }
}

extension FormParameter {
    init(argument text: String, example: String, option: String = "--parameter") throws(Failure) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else {
            throw .usage(
                "a \(option.drop { $0 == "-" }) is NAME=VALUE", hint: "for example: \(option) \(example)")
        }
        self.init(String(parts[0]), String(parts[1]))
    }
}
