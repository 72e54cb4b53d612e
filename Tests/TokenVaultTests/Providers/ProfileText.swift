import Foundation
import OAuthClient

/// A shipped profile's file, read apart from the code that is tested: the other side of its requests is played after it.
struct ProfileText: Sendable, CustomStringConvertible {
    let name: String
    private let json: Box

    /// Foundation's JSON has no Sendable type.
    private struct Box: @unchecked Sendable { let object: [String: Any] }

    init(name: String, text: [UInt8]) throws {
        self.name = name
        let object = try JSONSerialization.jsonObject(with: Data(text)) as? [String: Any]
        json = Box(object: object ?? [:])
    }

    var description: String { name }

    /// The value at a path such as `refresh.rotation`.
    func value<T>(_ path: String, or default: T) -> T { optional(path) ?? `default` }

    func optional<T>(_ path: String) -> T? {
        var value: Any? = json.object
        for part in path.split(separator: ".") { value = (value as? [String: Any])?[String(part)] }
        return value as? T
    }

    /// The values of all variables, from their examples.
    var values: [String: String] {
        let variables: [String: [String: Any]] = value("variables", or: [:])
        return variables.compactMapValues { $0["example"] as? String }
    }

    func filled(_ text: String) -> String {
        values.reduce(text) { $0.replacing("{\($1.key)}", with: $1.value) }
    }

    /// An endpoint of one log-in.
    func endpoint(_ name: String) -> String {
        guard let text: String = optional("endpoints.\(name)") else {
            return "https://login.\(self.name).example/\(name)"
        }
        return filled(text.replacing("{client_id}", with: "client-1"))
    }

    /// The provider's name of a parameter.
    func parameter(_ name: String) -> String {
        let names: [String: String] = value("request.names", or: [:])
        return names[name] ?? name
    }

    func parameters(_ section: String) -> [String: String] {
        let parameters: [String: String] = value("request.\(section)", or: [:])
        return parameters.mapValues { filled($0) }
    }

    var rotation: String { value("refresh.rotation", or: "sometimes") }
    /// A living access token can be exchanged more than once.
    var grace: Int { chainsAccessTokens ? .max : value("refresh.graceSeconds", or: 0) }
    var authentication: String {
        let methods: [String] = value("client.authentication", or: ["none"])
        return methods.first { $0 != "tls_client_auth" } ?? "none"
    }
    var isBound: Bool { value("client.boundTokens", or: false) || value("dpop.usage", or: "") == "required" }
    var isPushed: Bool { value("request.pushedAuthorization", or: "never") == "required" }
    var chainsAccessTokens: Bool { value("refresh.chain", or: "") == "accessToken" }
    var hasRevocation: Bool {
        let endpoint: String? = optional("endpoints.revocation")
        let endpoints: [String: String] = value("endpoints", or: [:])
        return endpoint != nil || endpoints["token"] == nil
    }

    var usesPKCE: Bool {
        if let word: String = optional("client.pkce") { return word == "always" || authentication == "none" }
        return value("client.pkce", or: true)
    }

    /// A body that says this code, in the provider's own form.
    func error(_ code: String) -> [String: Any] {
        let members: [String] = value("errors.members", or: ["error"])
        var inner: Any = code
        for part in (members.first ?? "error").split(separator: ".").reversed() {
            let isList = part.hasSuffix("[]")
            inner = [String(isList ? part.dropLast(2) : part): isList ? [inner] : inner]
        }
        var body = inner as? [String: Any] ?? [:]
        if let (name, _) = successMember { body[name] = body[name] ?? (name == "ok" ? false as Any : 401) }
        return body
    }

    var successMember: (name: String, value: Any)? {
        if let name: String = optional("reply.successMember") { return (name, true) }
        guard let name: String = optional("reply.successMember.name"),
            let value: Any = optional("reply.successMember.is")
        else { return nil }
        return (name, value)
    }
}
