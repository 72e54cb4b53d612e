import OAuthClient
import VaultStorage

// Values that each log-in brings, such as a shop's subdomain. They are kept among the login's attributes.
extension ProviderRecord {
    /// Of all attributes of a login, the values of the profile's variables.
    func variableValues(in attributes: [String: String]) -> [String: String] {
        guard !attributes.isEmpty, let variables = try? profile.variables, !variables.isEmpty else { return [:] }
        return attributes.filter { name, _ in variables.contains { $0.name == name } }
    }

    /// Refuses variables in addresses that the profile does not declare, and a whole host that is not allowed.
    func checkVariables() throws {
        let profile = try VaultError.translatingValues { try self.profile }
        let addresses: [(option: String, address: String?)] = [
            ("token-endpoint", tokenEndpoint), ("authorization-endpoint", authorizationEndpoint),
            ("revocation-endpoint", revocationEndpoint), ("introspection-endpoint", introspectionEndpoint),
            ("pushed-authorization-endpoint", pushedAuthorizationEndpoint),
            ("device-authorization-endpoint", deviceAuthorizationEndpoint),
        ]
        for (option, address) in addresses {
            guard let address else { continue }
            let endpoint = try VaultError.translatingValues { try EndpointURL(stored: address) }
            for name in endpoint.variables where !profile.variables.contains(where: { $0.name == name }) {
                throw VaultError(
                    .invalidArgument,
                    "the profile \(profile.name) has no variable {\(name)}, and the \(option.replacing("-", with: " ")) "
                        + "depends on it: \(address)",
                    hint: "give the whole address: --\(option) URL; or declare the variable in a profile of your own")
            }
        }
    }

    /// The error for a use without a login, whose values the provider's addresses need; nil if they need none.
    var dependsOnLogins: VaultError? {
        guard let profile = try? profile, !profile.variables.isEmpty else { return nil }
        let names = profile.variables.map { "{\($0.name)}" }.joined(separator: " and ")
        let example = try? EndpointURL(stored: tokenEndpoint, for: profile.exampleValues)
        return VaultError(
            .invalidArgument,
            "this provider's endpoints depend on \(names), which only a login has: the client itself gets no token there",
            hint: example.map { "add a provider with the whole address, such as --token-endpoint \($0.rawValue)" })
    }
}

extension ProviderProfile {
    /// Checks what a log-in brings, before anything is sent.
    ///
    /// - Parameter stored: Values of the login that is renewed by this log-in: they count where it brings none.
    package func valuesForLogIn(
        _ given: [String: String], stored: [String: String] = [:]
    ) throws -> [String: String] {
        if let unknown = given.keys.sorted().first(where: { name in !variables.contains { $0.name == name } }) {
            throw VaultError(
                .invalidArgument, "the profile \(self.name) has no variable of this name: \(unknown.prefix(32))",
                hint: variables.isEmpty
                    ? "it has none: leave --variable out"
                    : "it has \(variables.map(\.name).joined(separator: ", ")): \(variables[0].option)")
        }
        let values = stored.merging(given) { $1 }
        for variable in variables {
            guard let value = values[variable.name] else {
                throw VaultError(
                    .invalidArgument, "this provider's log-ins need a value of \(variable.name): \(variable.says)",
                    hint: "for example: \(variable.option)")
            }
            guard variable.accepts(value) else {
                throw VaultError(
                    .invalidArgument, "this value of \(variable.name) does not fit: \(variable.says)",
                    hint: "for example: \(variable.option)")
            }
        }
        return values
    }
}

extension ProfileVariable {
    /// As it is typed.
    package var option: String { "--variable \(name)=\(example)" }
}

extension ProviderRecord {
    /// The values of a log-in, checked: those that it brings, else those that its login has.
    ///
    /// - Throws: ``VaultError/Code/invalidArgument`` for one that is missing or does not fit; ``VaultError/Code/originNotAllowed``
    ///   for a host of its own that the operator has not allowed.
    func valuesForLogIn(_ given: [String: String], stored: [String: String] = [:]) throws -> [String: String] {
        let profile = try VaultError.translatingValues { try self.profile }
        let values = try profile.valuesForLogIn(given, stored: variableValues(in: stored))
        for variable in profile.variables where variable.isAnyHost {
            // The client's secret and every token go to this host: the operator says which they may go to.
            guard let host = values[variable.name], let url = try? EndpointURL("https://\(host)/"),
                try VaultError.translatingValues({ try allowedOrigins }).contains(where: { $0.covers(url) })
            else {
                throw VaultError(
                    .originNotAllowed, "the value of \(variable.name) is a host that this provider may not have",
                    hint: "allow it: vaultctl provider update NAME --api-origin https://HOST, or https://*.DOMAIN")
            }
        }
        return values
    }

    /// From when on a token can be renewed that was obtained at `obtainedAt`; nil: at once.
    func renewableFrom(_ obtainedAt: Timestamp) -> Timestamp? {
        guard let age = try? profile.minimumAge, age > .zero else { return nil }
        return obtainedAt.advanced(by: age)
    }
}
