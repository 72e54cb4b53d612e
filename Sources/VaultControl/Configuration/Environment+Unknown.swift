/// Variables that are no setting: with a typing error they do nothing, and say nothing.
extension Environment {
    private static let known = others.union(ConfigurationSetting.all.map(\.variable))

    static func unknown(_ environment: [String: String]) -> [String] {
        environment.keys.filter { $0.hasPrefix("TOKENVAULT_") && !known.contains($0) }.sorted()
    }

    /// For an error that one of them may explain.
    static func slips(_ environment: [String: String]) -> [String] {
        unknown(environment).prefix(4).map { name in
            let near = known.sorted().min { EditDistance.between($0, name) < EditDistance.between($1, name) }
            let meant = near.flatMap { EditDistance.between($0, name) <= 3 ? ": did you mean \($0)" : nil }
            return "there is no variable \(Printable.shortened(name))" + (meant ?? "")
        }
    }
}
