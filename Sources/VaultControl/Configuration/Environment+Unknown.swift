/// Variables that are not settings: a misspelt one is ignored without a message.
extension Environment {
    private static let known = others.union(ConfigurationSetting.all.map(\.variable))

    static func unknown(_ environment: [String: String]) -> [String] {
        environment.keys.filter { $0.hasPrefix("TOKENVAULT_") && !known.contains($0) }.sorted()
    }

    /// The variables that may explain an error.
    static func slips(_ environment: [String: String]) -> [String] {
        unknown(environment).prefix(4).map { name in
            let near = known.sorted().min { EditDistance.between($0, name) < EditDistance.between($1, name) }
            let meant = near.flatMap { EditDistance.between($0, name) <= 3 ? ": did you mean \($0)" : nil }
            return "there is no variable \(Printable.shortened(name))" + (meant ?? "")
        }
    }
}
