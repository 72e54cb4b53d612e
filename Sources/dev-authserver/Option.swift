import DevAuthorizationServer
import FoundationEssentials

/// One line of the option table, from which both parsing and `--help` come.
struct Option: Sendable {
    enum Effect: Sendable {
        case flag(@Sendable (inout Options) -> Void)
        case value(String, @Sendable (inout Options, String) throws(UsageError) -> Void)
    }

    let name: String
    let effect: Effect
    let help: String

    static func flag(_ name: String, _ help: String, _ set: @escaping @Sendable (inout Options) -> Void) -> Option {
        Option(name: name, effect: .flag(set), help: help)
    }

    static func value(
        _ name: String, _ placeholder: String, _ help: String,
        _ set: @escaping @Sendable (inout Options, String) throws(UsageError) -> Void
    ) -> Option {
        Option(name: name, effect: .value(placeholder, set), help: help)
    }

    static func integer(_ text: String, in range: ClosedRange<Int>) throws(UsageError) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw UsageError("must be an integer of \(range.lowerBound)...\(range.upperBound), not \(text)")
        }
        return number
    }

    /// Seconds, fractions allowed.
    static func seconds(_ text: String) throws(UsageError) -> Duration {
        guard let number = Double(text), (0...1e9).contains(number) else {
            throw UsageError("must be a number of seconds, not \(text)")
        }
        return .milliseconds(Int64((number * 1000).rounded()))
    }

    static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ text: String, of type: Choice.Type
    ) throws(UsageError) -> Choice {
        guard let choice = Choice(rawValue: text) else {
            let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("must be one of \(known), not \(text)")
        }
        return choice
    }

    /// `ID`, `ID:basic:SECRET`, `ID:post:SECRET`, `ID:jwt:JWK` or `ID:jwt:@FILE`.
    static func client(_ text: String) throws(UsageError) -> RegisteredClient {
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        switch (parts.count, parts.count > 1 ? parts[1] : "") {
        case (1, _) where !parts[0].isEmpty: return RegisteredClient(id: parts[0])
        case (3, "basic"): return RegisteredClient(id: parts[0], authentication: .basic(secret: parts[2]))
        case (3, "post"): return RegisteredClient(id: parts[0], authentication: .post(secret: parts[2]))
        case (3, "jwt"):
            guard let key = try RegisteredKey(jwk: content(parts[2])) else {
                throw UsageError("must bring the JWK of a public key, or @ and the name of a file with one")
            }
            return RegisteredClient(id: parts[0], authentication: .privateKeyJWT(key))
        default: throw UsageError("must be ID, ID:basic:SECRET, ID:post:SECRET or ID:jwt:JWK")
        }
    }

    /// `NAME=JWK` or `NAME=@FILE`.
    static func trustedIssuer(_ text: String) throws(UsageError) -> (String, RegisteredKey) {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, let key = try RegisteredKey(jwk: content(parts[1])) else {
            throw UsageError("must be NAME=JWK with the JWK of a public key, or NAME=@ and the name of a file with one")
        }
        return (parts[0], key)
    }

    private static func content(_ text: String) throws(UsageError) -> String {
        guard text.hasPrefix("@") else { return text }
        guard let data = try? Data(contentsOf: URL(filePath: String(text.dropFirst()))),
            let content = String(validating: data, as: UTF8.self)
        else { throw UsageError("names a file that cannot be read: \(text.dropFirst())") }
        return content
    }

    /// `ID:rotation=never,grace=30`: the names and values of the options that hold for the whole server.
    static func clientBehaviour(_ text: String) throws(UsageError) -> (client: String, behaviour: ClientBehaviour) {
        typealias Configuration = AuthorizationServerConfiguration
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { throw UsageError("must be ID:NAME=VALUE and more of these after commas") }
        var behaviour = ClientBehaviour()
        for item in parts[1].split(separator: ",") {
            let pair = item.split(separator: "=", maxSplits: 1).map(String.init)
            guard pair.count == 2 else { throw UsageError("must be ID:NAME=VALUE, not \(item)") }
            switch pair[0] {
            case "rotation": behaviour.rotation = try choice(pair[1], of: Configuration.RefreshRotation.self)
            case "grace": behaviour.graceWindow = try seconds(pair[1])
            case "reuse": behaviour.reuse = try choice(pair[1], of: Configuration.ReuseResponse.self)
            case "nonce-check": behaviour.nonceCheck = try choice(pair[1], of: Configuration.NonceCheck.self)
            case "access-token-lifetime": behaviour.accessTokenLifetime = try seconds(pair[1])
            case "delay": behaviour.delay = try seconds(pair[1])
            case "reply-delay": behaviour.replyDelay = try seconds(pair[1])
            default: throw UsageError("knows no \(pair[0])")
            }
        }
        return (parts[0], behaviour)
    }
}
