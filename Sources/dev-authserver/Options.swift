import DevAuthorizationServer

/// What the command line asks for.
struct Options: Sendable {
    var configuration = AuthorizationServerConfiguration()
    var readyFile: String?
    var stopAfter: Duration?
    var exitsWithStandardInput = false
    var showsHelp = false

    var addedRedirectURIs: [String] = []
    var addedClients: [RegisteredClient] = []
    /// Of the server as a whole.
    var behaviour = ClientBehaviour()
    var behaviours: [(client: String, behaviour: ClientBehaviour)] = []
    var withholdsRefreshTokens = false
    var requiresDPoP = false
    var nonceRotation: Duration = .seconds(300)
    var nonceMode = NonceMode.none

    enum NonceMode: String, CaseIterable {
        case none, required, once
    }

    /// Reads the arguments after the program's name, as `--name value` or `--name=value`.
    init(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            guard let option = Option.all.first(where: { $0.name == name }) else { throw .unknown(argument) }
            switch option.effect {
            case .flag(let set):
                guard parts.count == 1 else { throw UsageError("\(name) takes no value") }
                set(&self)
            case .value(let placeholder, let set):
                guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst() else {
                    throw UsageError("\(name) needs a value: \(name) \(placeholder)")
                }
                do throws(UsageError) {
                    try set(&self, value)
                } catch {
                    throw UsageError("\(name) \(error.sentence)", hint: error.hint)
                }
            }
        }
        try finish()
    }

    /// Options whose meaning depends on others, wherever they stand.
    private mutating func finish() throws(UsageError) {
        configuration.clients += addedClients
        for index in configuration.clients.indices {
            configuration.clients[index].redirectURIs += addedRedirectURIs
            configuration.clients[index].receivesRefreshTokens = !withholdsRefreshTokens
            configuration.clients[index].requiresDPoP = requiresDPoP
        }
        configuration.behaviour = behaviour
        for (client, behaviour) in behaviours {
            guard let index = configuration.clients.lastIndex(where: { $0.id == client }) else {
                throw UsageError("--behaviour names a client that is not registered: \(client)")
            }
            configuration.clients[index].behaviour = behaviour
        }
        switch nonceMode {
        case .none: configuration.noncePolicy = .none
        case .required: configuration.noncePolicy = .required(rotation: nonceRotation)
        case .once: configuration.noncePolicy = .requiredOnce
        }
    }
}

/// A command line that cannot be followed; exit code 64.
struct UsageError: Error, Equatable {
    let sentence: String
    let hint: String

    init(_ sentence: String, hint: String = "dev-authserver --help lists the options") {
        self.sentence = sentence
        self.hint = hint
    }

    static func unknown(_ argument: String) -> UsageError {
        let name = String(argument.prefix { $0 != "=" })
        guard name.hasPrefix("-") else { return UsageError("no argument is expected: \(name)") }
        let nearest = Option.all.map(\.name).min { distance($0, name) < distance($1, name) }
        guard let nearest, distance(nearest, name) <= 3 else { return UsageError("unknown option \(name)") }
        return UsageError("unknown option \(name)", hint: "did you mean \(nearest)?")
    }

    /// Levenshtein's.
    private static func distance(_ left: String, _ right: String) -> Int {
        var row = Array(0...right.count)
        for (i, a) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, b) in right.enumerated() {
                let substitution = diagonal + (a == b ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(substitution, row[j] + 1, diagonal + 1)
            }
        }
        return row[right.count]
    }
}
