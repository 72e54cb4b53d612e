import TokenVault

extension Failure {
    /// Inserts the named provider into the hints' commands.
    mutating func nameProvider(_ arguments: [String]) {
        guard hints.contains(where: { $0.contains(" NAME") }), let name = Self.provider(arguments) else { return }
        self = naming(name)
    }

    /// The provider that the command line names.
    static func provider(_ arguments: [String]) -> String? {
        guard let given = GivenArguments(arguments),
            let name = given.value(of: "--provider") ?? given.value(of: "--client")
                ?? (given.words.first == "provider" ? given.value(of: "NAME") : nil)
                ?? (given.words == ["token", "client"] ? given.value(of: "PROVIDER") : nil)
        else { return nil }
        return given.value(of: "--tenant").flatMap { Tenant($0) }?.qualify(name) ?? name
    }

    /// Repeats a variable that was given under another spelling, or as a parameter of the request.
    mutating func nameVariable(_ arguments: [String]) {
        guard let index = hints.firstIndex(where: { $0.contains("--variable ") }),
            let known = hints[index].split(separator: "--variable ").last?.prefix(while: { $0 != "=" }),
            let given = GivenArguments(arguments)
        else { return }
        for argument in given.all where ["--variable", "--parameter"].contains(argument.taken.title) {
            guard let typed = argument.value, let equals = typed.firstIndex(of: "="),
                case let name = typed[..<equals].filter({ !"{}".contains($0) }),
                name.lowercased() == known.lowercased(),
                argument.taken.title == "--parameter" || typed[..<equals] != known
            else { continue }
            hints[index] = "did you mean: --variable \(known)\(Printable.shortened(String(typed[equals...])))"
        }
    }
}
